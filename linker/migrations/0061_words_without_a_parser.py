"""The words of a text are found in a third of the time: those of plain ones without PostgreSQL's parser.

A text of nothing but ASCII letters and digits, once its punctuation is taken out, is cut at the blanks. The words are
the same to the letter, so that no index on them has to be made again; that they say no longer where in the text they
stand matters to nothing but a phrase, and what is searched for is none from now on: “foo–bar”, whose dash is no ASCII,
finds texts with both words, wherever these stand. The parser stays with other texts, and with a digit, an e and a digit
in a row, which it takes for a number, where another word begins behind it: “29e3e” is “29e3” and “e”.
"""

from importlib import import_module

from django.db import migrations

_before = import_module("linker.migrations.0043_cheaper_page_writes")
_first = import_module("linker.migrations.0003_edge_counts")

_COMMON = "/-.:_|"  # replaced one by one, which is faster than an expression as long as they are few
_SMALL = 'pg_catalog.lower(words COLLATE pg_catalog."C")'
for _mark in _COMMON:
    _SMALL = f"pg_catalog.replace({_SMALL}, '{_mark}', ' ')"
# STRICT would make no difference: a null goes the second way, and is null at its end.
WORDS = rf"""
CREATE OR REPLACE FUNCTION anchorline_words(one text, other text DEFAULT '') RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    words text := pg_catalog.left(one, 2000) || ' ' || pg_catalog.left(other, 1000);
    small text;
BEGIN
    IF pg_catalog.octet_length(words) = pg_catalog.length(words) AND pg_catalog.length(words) <= 2000 THEN
        small := {_SMALL};
        IF small ~ '[^0-9a-z ]' THEN
            small := pg_catalog.regexp_replace(small, '[!-/:-@\[-`{{-~]+', ' ', 'g');
        END IF;
        IF small !~ '[^0-9a-z ]|[0-9]e[0-9]' THEN
            RETURN pg_catalog.array_to_tsvector(
                pg_catalog.array_remove(pg_catalog.string_to_array(small, ' '), ''));
        END IF;
    END IF;
    RETURN pg_catalog.to_tsvector('pg_catalog.simple'::pg_catalog.regconfig, {_before._PLAIN.format("words")});
END $$;
"""
STARTS = rf"""
CREATE OR REPLACE FUNCTION anchorline_word_starts(asked text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
    SELECT pg_catalog.replace(pg_catalog.to_tsquery('pg_catalog.simple'::pg_catalog.regconfig,
        coalesce(pg_catalog.string_agg(pg_catalog.quote_literal(word) || ':*', ' & '), ''))::text, '<->', '&')::tsquery
    FROM pg_catalog.regexp_split_to_table({_first._PLAIN.format("asked")}, '\s+') word WHERE word <> ''
$$;
"""
STARTS_BEFORE = _first.WORDS[_first.WORDS.index("CREATE FUNCTION anchorline_word_starts") :].replace(
    "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"
)


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0060_bounds_of_links_without_words"),
    ]

    operations = [
        migrations.RunSQL(WORDS, _before.WORDS),
        migrations.RunSQL(STARTS, STARTS_BEFORE),
    ]

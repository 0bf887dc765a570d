"""Texts as crawls bring them: many scripts, marks, joiners, direction overrides, NULs, lone surrogates."""

from __future__ import annotations

from hypothesis import strategies as st

HOSTILE = "\x00\x07\t\n\r\x0b\x85\u00a0\u00ad\u200b\u200d\u200e\u202e\u2066\u2069\u2028\ufeff\ufffe\ud800\ue000"
LETTERS = "abcXYZ éÉßıİŁøæÅ\u0301\u0308\u0327"
SCRIPTS = "дё עִב عَر हिन्दी がカ漢ー ไทย ½ﬁⅣ… 👩‍👧🇫🇷"
MARKS = " .,:;!?()[]|–—-·»'’\"&<>#39/\\"

hostile_text = st.text(alphabet=st.sampled_from(HOSTILE + LETTERS + SCRIPTS + MARKS), max_size=60) | st.text(
    max_size=60
)
words = st.lists(
    st.sampled_from(["tent", "Über", "of", "the", "RÉSUMÉ", "e\u0301té", "x", "½", "l’eau", "漢字"]), max_size=6
)

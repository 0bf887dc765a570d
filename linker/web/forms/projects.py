"""A new project, and what a manager says of one in general."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zoneinfo import available_timezones

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.models import Project
from linker.projects.create import SETTINGS, create_project
from linker.web.forms.fields import LinesField

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


SLUG_LENGTH = 50


class ProjectCreateForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ["name", "slug", "base_url"]
        labels = {
            "name": gettext_lazy("Name"),
            "slug": gettext_lazy("Short name in addresses"),
            "base_url": gettext_lazy("Address of the site"),
        }
        help_texts = {
            "slug": gettext_lazy(
                "Lower-case letters, digits and hyphens. Left empty, it is made from the name. It cannot change later."
            ),
            "base_url": gettext_lazy("The start of every address of the site, such as https://www.example.com"),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False
        self.fields["slug"].widget.attrs |= {"data-filled-from": "id_name", "maxlength": SLUG_LENGTH}

    def clean_slug(self) -> str:
        """What was written, else what the name gives."""
        written = self.cleaned_data["slug"]
        slug = written or slugify(self.cleaned_data.get("name", ""))[:SLUG_LENGTH].strip("-")
        if not slug:
            raise ValidationError(
                _("The name gives no short name. Write one in lower-case letters, digits and hyphens.")
            )
        if Project.objects.filter(slug=slug).exists():
            raise ValidationError(
                _("There is already a project with the short name “%(slug)s”. Choose another one.") % {"slug": slug}
            )
        return slug

    def create(self, manager: AbstractBaseUser | AnonymousUser) -> Project:
        return create_project(
            slug=self.cleaned_data["slug"],
            name=self.cleaned_data["name"],
            base_url=self.cleaned_data["base_url"],
            manager=manager,
        )


class ProjectForm(forms.ModelForm):
    title_patterns = LinesField(
        entry_length=300,
        patterns=True,
        label=gettext_lazy("Removed from titles"),
        help_text=gettext_lazy(
            "One RE2 pattern a line. A suffix or prefix that most titles share is found automatically."
        ),
    )
    banned_anchors = LinesField(
        entry_length=100,
        label=gettext_lazy("Never used as an anchor"),
        help_text=gettext_lazy("One anchor a line, in upper or lower case."),
    )

    time_zone = forms.ChoiceField(
        choices=lambda: [(name, name.replace("_", " ")) for name in sorted(available_timezones())],
        label=gettext_lazy("Time zone"),
        help_text=gettext_lazy("Schedules of sources and of the match keep to its clocks."),
    )

    class Meta:
        model = Project
        fields = list(SETTINGS)
        widgets = {"query_blend": forms.NumberInput(attrs={"step": "0.01", "min": 0, "max": 1})}
        labels = {
            "base_url": gettext_lazy("Address of the site"),
            "trailing_slash": gettext_lazy("/page and /page/ are"),
            "www": gettext_lazy("With and without www. are"),
            "parameter_urls": gettext_lazy("Addresses with a query"),
            "vector_source": gettext_lazy("Vectors"),
            "model_name": gettext_lazy("Embedding model"),
            "text_recipe": gettext_lazy("Text read from a page"),
            "link_languages": gettext_lazy("Link pages in different languages"),
            "anchor_max_length": gettext_lazy("Longest anchor, in characters"),
            "identical_anchor_limit": gettext_lazy("Most links to a page with the same anchor"),
            "anchor_repeats": gettext_lazy("Where a link would be one more"),
            "query_blend": gettext_lazy("Weight of search queries"),
            "queue_order": gettext_lazy("Order of the queue"),
            "gap_links": gettext_lazy("Links without words in the text"),
            "line_wording": gettext_lazy("What a line of its own says"),
            "replacing": gettext_lazy("Propose better links in place of released ones"),
            "replace_gain": gettext_lazy("Least gain, in percent"),
            "replace_of_page": gettext_lazy("Of a page’s links a week, in percent"),
            "replace_of_site": gettext_lazy("Of all released links a week, in percent"),
            "replace_after": gettext_lazy("Days a link stands first"),
        }
        help_texts = {
            "base_url": gettext_lazy("Pages of another site are refused at import."),
            "trailing_slash": gettext_lazy("Takes effect at the next import of pages."),
            "www": gettext_lazy("Takes effect at the next import of pages."),
            "parameter_urls": gettext_lazy("Which of them may be suggested as acceptors."),
            "vector_source": "",
            "model_name": gettext_lazy(
                "A sentence-transformers model. Put “static:” before its name on very large sites: word vectors are "
                "then fitted to the model and these pages, which is many times faster and a little less exact. If you "
                "change the model, embed and match again."
            ),
            "text_recipe": gettext_lazy("If you change the text, embed and match again."),
            "link_languages": gettext_lazy(
                "Only if readers of the site read both languages. Takes effect at the next match."
            ),
            "identical_anchor_limit": gettext_lazy("Further links get the next best anchor."),
            "anchor_repeats": gettext_lazy(
                "The same words many times are natural where they name a person or a body, and look bought where they "
                "advertise. What a tier exports unreviewed is held back beyond the limit either way, but for the "
                "page’s own name."
            ),
            "query_blend": gettext_lazy(
                "0 uses titles and headings only; 1 puts search queries first. Needs an import of search "
                "queries. Takes effect at the next match."
            ),
            "queue_order": gettext_lazy(
                "How suggestions to review are sorted unless another order is chosen in the queue. “Donor "
                "by donor, score and need together” weighs the probability of a suggestion by how much its acceptor "
                "needs links."
            ),
            "gap_links": gettext_lazy(
                "Where the accept button puts a link that belongs in the text if the text has no words for it. "
                "Editors can choose otherwise on each card. What is decided already stays as it is."
            ),
            "line_wording": gettext_lazy(
                "“{title}” stands for the link: “See also {title}”. Empty: “More on this: {title}” in the language of "
                "the donor (German, English, French, Spanish, Italian, Portuguese, Dutch)."
            ),
            "replacing": gettext_lazy(
                "Only where a page has no room left, only in place of links that Anchorline has released, and only if "
                "an editor accepts it. Takes effect at the next match."
            ),
            "replace_gain": gettext_lazy(
                "How much likelier than the released link an editor has to be to approve the new one: 20 is from 50% "
                "to 60%."
            ),
            "replace_of_page": gettext_lazy("Never more than this share, but always one."),
            "replace_of_site": gettext_lazy("Never more than this share, but always one."),
            "replace_after": gettext_lazy(
                "Counted from its release, from the day it was first seen on the site, and from what a person said "
                "of it last."
            ),
        }

    # What makes vectors: a change asks for a new embed run.
    EMBEDDING_FIELDS = frozenset({"vector_source", "model_name", "text_recipe"})

"""Context of a mention: denied, uncertain, past, or of somebody else. Each sentence marks its mention in [brackets]."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from growth import growth_ratio
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clinical_drift import mention_context
from pytest_clinical_drift.evidence.mentions.context import MentionContext, context_at
from pytest_clinical_drift.evidence.reading.text import read, tokenise
from pytest_clinical_drift.evidence.terms.vocabulary import load_vocabulary

# Roles: n negated, h hypothetical, p past (historical), o other person, "." stated of the patient now.
DENIED = """
n|No [fever], rigors or night sweats.
n|No fever, rigors or [night sweats].
n|She doesn't have [coeliac disease].
n|There is no evidence of [psychosis].
n|He has never smoked or used [cocaine].
n|Neither gabapentin nor [pregabalin] has been needed.
n|Cough without [wheeze]
n|[Endocarditis] was ruled out.
n|She tested negative for [influenza].
n|no h/o [jaundice]
n|[HBsAg] -ve
n|[orthopnoea] (-), PND (+)
n|He is [symptom]-free today.
n|No sign of her [rash].
"""
DENIED_BY_LAYOUT = """
n|[Allergies]: nil
n|**[Allergies]:** None known
n|| Symptom | Present |\\n|---|---|\\n| Nausea | Yes |\\n| [Vomiting] | No |
.|| Symptom | Present |\\n|---|---|\\n| [Nausea] | Yes |\\n| Vomiting | No |
n|Denies:\\n- [tremor]\\n- rigidity
n|{"[jaundice]": "none"}
.|**Medicines:** [Lisinopril] 10 mg\\n**Allergies:** None
"""
SCOPE_ENDS = """
.|No vomiting but has [diarrhoea].
.|Denies vomiting and reports [diarrhoea].
.|There is no set date yet. Her [nickel allergy] was noted.
.|He takes no ibuprofen because of a [duodenal ulcer].
.|She has no illnesses except [rosacea].
.|No goitre, mild [tremor].
.|She is allergic to [trimethoprim], not nitrofurantoin.
n|She is allergic to trimethoprim, not [nitrofurantoin].
.|[Codeine allergy] (no anaphylaxis)
n|Codeine allergy (no [anaphylaxis])
"""
NO_DENIAL = """
.|There was no change to his [lithium].
.|Not only [eczema] but also hay fever.
.|He does not deny [cannabis use].
.|She has not disclosed her [bulimia] to her family.
.|No missed doses of [thyroxine].
.|She takes [citalopram] without side effects.
.|Her [psoriasis] is not well controlled.
.|Gram negative [septicaemia] in March.
.|He was advised not to stop [clozapine] suddenly.
.|He can't manage without his [oxygen].
"""
UNCERTAIN = """
h|If he develops [jaundice], stop the tablets.
h|Ultrasound to rule out [gallstones].
h|?[TIA] – clinic booked
h|[Fracture] cannot be excluded.
h|She asked about [melatonin].
h|Is there any [incontinence]?
h|Monitor for signs of [toxicity].
h|## Differential diagnosis\\n1. [Sarcoidosis]
.|She worries about her [tics].
h|Worried that his [epilepsy] has returned.
.|The pain is likely due to [osteoarthritis].
"""
PAST = """
p|History of [pancreatitis].
p|[Methotrexate] was stopped in May.
p|She used to take [zopiclone].
p|[Warfarin] was switched to edoxaban.
.|Warfarin was switched to [edoxaban].
p|## Previous medications\\n- [Venlafaxine] 75 mg
np|She no longer takes [digoxin].
.|He has had [vitiligo] since 2016.
.|[Lithium] will be stopped if levels rise.
"""
OTHER_PEOPLE = """
o|Her mother has [lupus].
o|Family history of [aneurysm].
no|No family history of [aneurysm].
o|He looks after his wife, who has [Parkinson's disease].
o|her mother's [dementia]
o|## Family history\\n- [Glaucoma] (father)
.|His wife reports that he has [angina].
.|She lives with her sister and has [lupus].
.|Her mother had gout, but her own [arthritis] is mild.
.|Her husband gives her the [insulin].
.|Mother of three with [postnatal depression].
"""


def _cases(*tables: str) -> list[tuple[str, str]]:
    lines = [line for table in tables for line in table.strip().splitlines()]
    return [(roles, text.replace("\\n", "\n")) for roles, _, text in (line.partition("|") for line in lines)]


ONE_LINE = [case for case in _cases(DENIED, SCOPE_ENDS, PAST, OTHER_PEOPLE) if "\n" not in case[1]]


def _mark(marked: str) -> tuple[str, int, int]:
    """The text without its brackets, and where the mention stands."""
    start, end = marked.index("["), marked.index("]")
    return marked[:start] + marked[start + 1 : end] + marked[end + 1 :], start, end - 1


def _roles(context: MentionContext) -> str:
    flags = (context.negated, context.hypothetical, context.historical, context.other_person)
    return "".join(letter for letter, flag in zip("nhpo", flags, strict=True) if flag) or "."


@pytest.mark.parametrize(
    ("roles", "marked"),
    _cases(DENIED, DENIED_BY_LAYOUT, SCOPE_ENDS, NO_DENIAL, UNCERTAIN, PAST, OTHER_PEOPLE),
)
def test_roles_of_a_mention(roles: str, marked: str) -> None:
    """A mention gets exactly the roles that its sentence, label or table row gives it."""
    assert _roles(mention_context(*_mark(marked))) == roles


@pytest.mark.parametrize(
    "fact", ["no psychotropic medication", "not on anticoagulants", "previous overdose", "wife who has dementia"]
)
def test_cue_inside_the_mention_does_not_count(fact: str) -> None:
    """A fact that is itself negative, past or about a relative is not turned against itself."""
    text = f"She has {fact} at present."
    start = text.index(fact)
    assert mention_context(text, start, start + len(fact)) == MentionContext()


def test_a_role_comes_with_the_words_that_gave_it() -> None:
    """As they stand in the raw text."""
    text = "Her mother denies\u202fany **asthma**."
    context = mention_context(text, text.index("asthma"), text.index("asthma") + 6)
    assert [words for role, words in context.cues if role == "negated"] == ["denies"]
    assert all(words in text for _, words in context.cues)


def test_each_mention_has_its_own_context() -> None:
    """A denial elsewhere does not touch an affirmed mention of the same word."""
    document = read("No asthma in the notes at first. She has asthma. Her brother has asthma.")
    places = [index for index, word in enumerate(document.words) if word == "asthma"]
    assert [_roles(context_at(document, place, place)) for place in places] == ["n", ".", "o"]


def test_hidden_reasoning_is_no_context() -> None:
    """A cue inside a reasoning block does not reach the visible text, and a mention there has no context."""
    text = "<think>she denies</think>asthma"
    assert mention_context(text, text.index("asthma"), len(text)) == MentionContext()
    assert mention_context(text, text.index("denies"), text.index("denies") + 6) == MentionContext()


@pytest.mark.parametrize(("start", "end"), [(0, 0), (-5, -1), (50, 90), (9, 3), (0, 10**9)])
def test_any_offsets_are_answered(start: int, end: int) -> None:
    """Offsets outside the text or in the wrong order raise nothing."""
    assert isinstance(mention_context("No fever.", start, end), MentionContext)


_ROLES = ("negated", "hypothetical", "historical", "other_person")
_PIECES = st.sampled_from(
    ["no ", "denies ", "?", "if ", "her mother ", "history of ", "fever", ", ", "; ", ": ", "(", ")", " – ", "|", "\n",
     "- ", "**", "# ", "in 2019 ", "was stopped ", "not ", "none", "\u202f", "\u200b", "½", "\x00", "<think>",
     "</think>", '"', "{", "}", "🤰", "\u202e", "e\u0301", "b.d. ", "didn't ", "w/o ", "FHx: "]
)  # fmt: skip


@settings(max_examples=150)
@given(st.lists(_PIECES, max_size=40).map("".join) | st.text(max_size=200), st.data())
def test_hostile_text_raises_nothing(text: str, data: st.DataObject) -> None:
    """Whatever the text, every mention has a context, and every role in it has a cue."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    context = mention_context(text, start, end)
    given_by = {role for role, _ in context.cues}
    assert given_by == {role for role in _ROLES if getattr(context, role)}


@settings(max_examples=80)
@given(st.sampled_from(ONE_LINE), st.sampled_from(["- ", "* ", "3. "]))
def test_a_bullet_changes_nothing(case: tuple[str, str], bullet: str) -> None:
    """The same sentence as a list item, after another sentence, has the same context."""
    roles, marked = case
    text, start, end = _mark(marked)
    before = f"He was seen today.\n{bullet}"
    assert _roles(mention_context(before + text, start + len(before), end + len(before))) == roles


@pytest.mark.parametrize("unit", ["no fever and ", "no ", "mother's ", "if ", "no (", "| no |\n"])
def test_cost_is_linear(unit: str) -> None:
    """Four times the text of nothing but near-matches takes about four times as long, not sixteen."""

    def work(size: int) -> Callable[[], object]:
        text = unit * (size // len(unit))

        def all_contexts() -> None:
            document = read(text)
            for index in range(len(document)):
                context_at(document, index, index)

        return all_contexts

    assert growth_ratio(work, 3_000, 4, tries=3) < 9


def _leaves(value: object) -> list[object]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in _leaves(part)]
    if isinstance(value, list):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


def test_cue_table_holds_words_only() -> None:
    """An unquoted "no" or "on" in the table would be read as a truth value; every phrase has at least one word."""
    data = dict(load_vocabulary("cues"))
    groups = data.pop("cues")
    assert all(isinstance(leaf, str) for leaf in _leaves(data))
    assert all(isinstance(phrase, str) and tokenise(phrase) for group in groups for phrase in group["phrases"])

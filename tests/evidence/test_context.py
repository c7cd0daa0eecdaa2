"""Context of a mention: each sentence marks its mention in [brackets] and names the roles it must get."""

import pytest
from growth import cpu_seconds
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clinical_drift.evidence.context import MentionContext, context_at, mention_context
from pytest_clinical_drift.evidence.terms.vocabulary import load_data
from pytest_clinical_drift.evidence.text import read, tokenise

# Roles: n negated, h hypothetical, p past (historical), o other person, "." stated of the patient now.
NEGATION = """
n|No [fever], rigors or night sweats.
n|No fever, rigors or [night sweats].
n|Denies dizziness, [blackouts], and falls.
n|Denies dizziness, blackouts, and [falls].
n|There is no evidence of [psychosis].
n|There was nothing to suggest [mania].
n|She does not have [coeliac disease].
n|She doesn't have [coeliac disease].
n|He hasn't had any [migraines] this year.
n|He has never had [shingles].
n|He has never smoked or used [cocaine].
n|She is not on [steroids].
n|She is not [asthmatic].
n|He does not take [codeine].
n|I do not think she has [lupus].
n|There is no suggestion that he has [dementia].
n|His spells do not amount to [epilepsy].
n|Neither gabapentin nor [pregabalin] has been needed.
n|Cough without [wheeze], chest pain or weight loss
n|Biopsy was negative for [malignancy].
n|She tested negative for [influenza].
n|absence of [papilloedema]
n|He is free of [symptoms].
n|He is [symptom]-free today.
n|Skin testing ruled out [latex allergy].
n|[Endocarditis] was ruled out.
n|Gout and [septic arthritis] were ruled out.
n|[Ascites] is absent.
n|[Vasculitis] is unlikely.
n|[Rash] not seen.
n|The [monkeypox] swab came back negative
n|[Photophobia] and neck stiffness were denied.
n|She declined [statins].
n|[Trazodone] 50 mg offered, declined
n|No acute, subacute, or chronic [infarct].
n|no [oedema] (weight 70 kg) or breathlessness
n|no oedema (weight 70 kg) or [breathlessness]
n|Apart from hay fever she has no [allergies].
n|No [rash] with amoxicillin reported.
n|No change in vision, [double vision] or vertigo.
"""

SHORTHAND = """
n|no h/o [jaundice]
n|nil [ankle swelling]
n|[HBsAg] -ve
n|[orthopnoea] (-), PND (+)
.|orthopnoea (-), [PND] (+)
n|∅ [murmur]
n|neg for [chlamydia]
n|w/o [discharge]
n|0 [fits]/6 m
n|PMH: no [diabetes], no stroke
.|Problems: [psoriasis], no diabetes
n|no [organomegaly]. Chest: clear
"""

LABELS = """
n|[Allergies]: none reported.
n|[Allergies]: nil
n|**[Allergies]:** None known
n|- [Alcohol] – no
n|[HIV]: negative
n|| Symptom | Present |\\n|---|---|\\n| [Nausea] | No |
.|| Symptom | Present |\\n|---|---|\\n| [Nausea] | Yes |\\n| Vomiting | No |
n|| Symptom | Present |\\n|---|---|\\n| Nausea | Yes |\\n| [Vomiting] | No |
n|Pertinent negatives: [tremor], rigidity
n|Denies:\\n- [tremor]\\n- rigidity
n|{"[jaundice]": "none"}
.|**Medicines:** [Lisinopril] 10 mg\\n**Allergies:** None
h|[Thyroid antibodies]: repeat sent, result pending
h|## Differential diagnosis\\n1. [Sarcoidosis]
p|[Tobacco]: stopped 2012
p|## Previous medications\\n- [Venlafaxine] 75 mg
o|## Family history\\n- [Glaucoma] (father)
o|FHx: [migraine]
o|| Family history | Sister has [coeliac disease] |
.|Family history: father had gout; the patient has [gout] too
"""

ENDED_NEGATION = """
.|No vomiting but has [diarrhoea].
.|No chest pain and was found to have [pericarditis].
.|Denies vomiting and reports [diarrhoea].
.|She denied self-harm, takes [quetiapine] at night.
.|She denied self-harm and continues to take [quetiapine].
.|Although afebrile with no rigors, she has [cellulitis].
.|No rash; [codeine], however, makes her itch.
.|He has no siblings and works as a [welder].
.|There is no set date yet. Her [nickel allergy] was noted.
.|He takes no ibuprofen because of a [duodenal ulcer].
.|Aside from [rosacea] she has no complaints.
.|She has no illnesses except [rosacea].
.|No allergies other than [elastoplast].
.|Alert, in no distress, with [bibasal crackles].
.|No masses, positive [bowel sounds].
.|No goitre, mild [tremor].
.|She is allergic to [trimethoprim], not nitrofurantoin.
n|She is allergic to trimethoprim, not [nitrofurantoin].
.|He had rigors and [cough], and malaria was ruled out.
.|No murmurs, [ankles] are swollen.
.|No reaction so far while on [doxycycline].
.|[Codeine allergy] (no anaphylaxis)
n|Codeine allergy (no [anaphylaxis])
"""

NOT_A_NEGATION = """
.|There was no change to his [lithium].
.|No change in [insulin] doses.
.|No adjustments to her [clozapine] were made.
.|No increase in [topiramate] today.
.|Not only [eczema] but also hay fever.
.|He does not deny [cannabis use].
.|He went out without his [spray].
.|She never travels without her [adrenaline pen].
.|Gram negative [septicaemia] in March.
.|Blood group B negative, [anti-D] given.
.|She has not disclosed her [bulimia] to her family.
.|He has not told his boss about his [epilepsy].
.|He denies missing any [warfarin].
.|She has not missed any doses of [tacrolimus].
.|No missed doses of [thyroxine].
.|He did not want his [pregabalin] altered.
.|He does not want to change his [mirtazapine].
.|There is no need to alter his [loratadine].
.|She reports no side effects from [citalopram].
.|She takes [citalopram] without side effects.
.|Her [psoriasis] is not well controlled.
.|[Migraine] has not responded to triptans.
.|He could not tolerate [metformin].
.|He is not on any medication for his [gout].
.|He has had no hypos on [gliclazide].
.|She does not feel that [duloxetine] is helping.
.|No doubt this is [impetigo].
.|Fatty liver: [non-alcoholic fatty liver disease].
.|His [memory] has declined.
.|He is off sick with [sciatica].
p|Two [seizures] in 2018, none since 2020
.|Without treatment her [thyroid disease] gets worse.
"""

REAL_STYLE = """
.|The patient continues on [escitalopram] 10 mg and denies any side effects.
n|The patient continues on escitalopram 10 mg and denies any [side effects].
.|He was advised not to stop [clozapine] suddenly.
n|She should not take [ibuprofen] because of her kidney disease.
.|She should not take ibuprofen because of her [kidney disease].
n|- **Substance use:** Denies alcohol, nicotine, or [drug use]
.|- **Current medications:** [Aripiprazole] 10mg (no side effects)
n|Denies SI/[HI]. Endorses low mood.
.|Denies SI/HI. Endorses [low mood].
.|[Hypothyroidism] – on levothyroxine, no dose change
.|* [Asthma]: no recent admissions
n|* [Asthma]: Not present
.|| Medication | [Sertraline] 50 mg | No change |
n|HIV, hepatitis B and [hepatitis C] negative.
n|[HIV], hepatitis B and hepatitis C negative.
n|Chest pain: No; [palpitations]: No
.|Chest pain: No; [palpitations]: Yes
.|[Migraine] without aura
.|No longer driving because of [epilepsy].
.|Lack of sleep makes her [mania] worse.
.|He can't manage without his [oxygen].
n|He manages without [oxygen] at home.
.|She would not be alive without [insulin].
.|The patient asked whether she could reduce her [venlafaxine].
h|The patient wondered whether [ADHD] might explain her symptoms.
h|Her GP prescribed duloxetine for suspected [fibromyalgia].
.|Her GP prescribed [duloxetine] for suspected fibromyalgia.
.|Possible side effects of [lithium] were explained.
h|She fears that she has [HIV].
h|Discussed the option of starting [lithium].
p|She switched from [citalopram] to sertraline.
.|She switched from citalopram to [sertraline].
p|Previous trials of fluoxetine and [citalopram] were ineffective.
.|Metformin was stopped and [gliclazide] started.
p|[Metformin] was stopped and gliclazide started.
.|He was on ramipril but now takes [losartan].
.|Her brother's death triggered her [depression].
o|Dad: [hypertension], mum: well
.|His daughter, who is a nurse, manages his [insulin].
.|Her twin sister takes methylphenidate; the patient takes [atomoxetine].
n|She was not found to have [anaemia].
n|[Gallstones] could not be identified.
n|There is a low suspicion for [endocarditis].
"""

HYPOTHETICAL = """
h|It is not certain whether she has [endometriosis].
h|If he develops [jaundice], stop the tablets.
h|Should she develop a [rash], she should ring us.
h|Ultrasound to rule out [gallstones].
h|?[TIA] – clinic booked
h|Possible [narcolepsy].
h|It could be [shingles].
h|[Fracture] cannot be excluded.
h|She is at risk of [osteoporosis].
h|She asked about [melatonin].
h|He is worried it is [cancer].
h|She is worried about [Alzheimer's].
h|Screen for [hepatitis B] next time.
h|Consider [amitriptyline] if sleep is poor.
h|In case of [hypoglycaemia] take dextrose.
h|Monitor for signs of [toxicity].
h|Return if [breathless].
h|[Nut allergy] was not asked about.
h|Is there any [incontinence]?
h|There is no mention of [alcohol].
h|[Gastroscopy] planned
h|They discussed adding [bupropion].
n|No [operation] planned
n|There is no suspicion of [abuse].
.|If her [asthma] gets worse, double the steroid.
.|She worries about her [tics].
.|He is concerned about weight gain on [mirtazapine].
.|She is afraid of the side effects of [interferon].
.|Consider increasing [ramipril] to 5 mg.
.|She would like to continue [fluoxetine].
.|She meets criteria for [anorexia nervosa].
.|The pain is likely due to [osteoarthritis].
"""

HISTORICAL = """
p|History of [pancreatitis].
p|h/o [DVT]
n|There is no history of [pancreatitis].
p|Former [drinker].
p|Previous [stroke] in 2014.
p|Past [detention] under the Act.
p|[Methotrexate] was stopped in May.
p|[Aspirin] 75 mg – stopped 3 days ago
p|He stopped [naproxen] because of heartburn.
.|He stopped naproxen because of [heartburn].
p|[Venlafaxine] – tried, d/c.
p|[Carbimazole] was discontinued last spring.
p|She had an [allergic reaction] in the past.
p|Her [vertigo] has resolved.
p|He took an [overdose] in 2016.
p|She had a [hip fracture] four years ago.
p|[Tonsillectomy] as a child
p|She was previously on [paroxetine].
p|She used to take [zopiclone].
p|[Warfarin] was switched to edoxaban.
.|Warfarin was switched to [edoxaban].
np|She no longer takes [digoxin].
.|She was diagnosed with [vitiligo] in 2016.
.|He has had [vitiligo] since 2016.
.|Started [lamotrigine] two years ago and still takes it.
.|[Lithium] will be stopped if levels rise.
.|He has not stopped [vaping].
.|Once the [hives] have resolved, try again.
.|[Torasemide] was converted to 10 mg by mouth.
.|This 61-year-old [teacher] lives in Hull.
.|In the past two weeks her [sleep] has been poor.
.|He was previously diagnosed with [ADHD].
"""

OTHER_PERSON = """
o|Her mother has [lupus].
o|Family history of [aneurysm].
no|No family history of [aneurysm].
o|brother – [schizophrenia]
o|His partner [vapes] indoors.
o|Her brother takes [lithium].
o|He looks after his wife, who has [Parkinson's disease].
o|carer for husband ([stroke]), retired
o|There is [glaucoma] in her father and uncle.
o|[Bowel cancer] runs in the family.
o|His father died of [bowel cancer].
o|Both parents had [hypertension].
o|mother with [depression], father well
o|Her mother, aged 70, has [osteoporosis].
o|She has a sister with [epilepsy].
o|her mother's [dementia]
o|Daughter has nits; his wife has [scabies]
.|Wife has scabies; his own [rash] is better
.|His wife reports that he has [angina].
.|Her husband says she snores and has [apnoeas].
.|According to his wife, he has [blackouts].
.|Her mother noticed that she has [tics].
.|She lives with her sister and has [lupus].
.|Her son sorts the box out with her; she takes [apixaban].
.|Her husband gives her the [insulin].
.|Her mother had gout, but her own [arthritis] is mild.
.|His mother had gout and he has [psoriasis].
.|Her carer confirmed that she has [epilepsy].
.|Mother of three with [postnatal depression].
.|She is a mother and has [lupus].
.|Came with her husband. Has [migraine].
"""


def _leaves(value: object) -> list[object]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in _leaves(part)]
    if isinstance(value, list):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


def test_cue_table_holds_words_only() -> None:
    """An unquoted "no" or "on" in the table would be read as a truth value; every phrase has at least one word."""
    data = dict(load_data("cues"))
    groups = data.pop("cues")
    assert all(isinstance(leaf, str) for leaf in _leaves(data))
    assert all(isinstance(phrase, str) and tokenise(phrase) for group in groups for phrase in group["phrases"])


def _cases(*tables: str) -> list[tuple[str, str]]:
    lines = [line for table in tables for line in table.strip().splitlines()]
    return [(roles, text.replace("\\n", "\n")) for roles, _, text in (line.partition("|") for line in lines)]


def _mark(marked: str) -> tuple[str, int, int]:
    """The text without its brackets, and where the mention stands."""
    start, end = marked.index("["), marked.index("]")
    return marked[:start] + marked[start + 1 : end] + marked[end + 1 :], start, end - 1


def _roles(context: MentionContext) -> str:
    flags = (context.negated, context.hypothetical, context.historical, context.other_person)
    return "".join(letter for letter, flag in zip("nhpo", flags, strict=True) if flag) or "."


@pytest.mark.parametrize(
    ("roles", "marked"),
    _cases(NEGATION, SHORTHAND, LABELS, ENDED_NEGATION, NOT_A_NEGATION)
    + _cases(REAL_STYLE, HYPOTHETICAL, HISTORICAL, OTHER_PERSON),
)
def test_roles_of_a_mention(roles: str, marked: str) -> None:
    """A mention gets exactly the roles that its sentence gives it."""
    assert _roles(mention_context(*_mark(marked))) == roles


@pytest.mark.parametrize(
    "fact",
    ["no psychotropic medication", "not on anticoagulants", "previous overdose", "wife who has dementia"],
)
def test_cue_inside_the_mention_does_not_count(fact: str) -> None:
    """A fact that is itself negative, past or about a relative is not turned against itself."""
    text = f"She has {fact} at present."
    start = text.index(fact)
    assert mention_context(text, start, start + len(fact)) == MentionContext()


def test_evidence_is_quoted_with_its_place() -> None:
    """Every role comes with the words that gave it, at their offsets in the raw text."""
    text = "Her mother denies\u202fany **asthma**."
    context = mention_context(text, text.index("asthma"), text.index("asthma") + 6)
    negations = [cue for cue in context.cues if cue.role == "negated"]
    assert [cue.quote for cue in negations] == ["denies"]
    assert all(text[cue.start : cue.end] == cue.quote for cue in context.cues)


def test_question_mark_is_quoted() -> None:
    """A query before a diagnosis is shown as the mark itself."""
    text = "Plan: scan, ?appendicitis"
    (cue,) = mention_context(text, text.index("appendicitis"), len(text)).cues
    assert (cue.quote, cue.start, cue.role) == ("?", text.index("?"), "hypothetical")


def test_each_mention_has_its_own_context() -> None:
    """A denial elsewhere does not touch an affirmed mention of the same word, in either order."""
    text = "No asthma in the notes at first. She has asthma. Her brother has asthma."
    document = read(text)
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


_PIECES = st.sampled_from(
    ["no ", "denies ", "?", "if ", "her mother ", "mother's ", "history of ", "fever", ", ", "; ", ": ", "(", ")",
     " – ", "|", "\n", "- ", "**", "# ", "in 2019 ", "was stopped ", "not ", "never ", "none", "\u202f", "\u200b",
     "½", "\x00", "<think>", "</think>", '"', "{", "}", "🤰", "\u202e", "e\u0301", "1,000", "b.d. ", "didn't ",
     "w/o ", "FHx: "]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=40).map("".join) | st.text(max_size=200), st.data())
def test_hostile_text_raises_nothing(text: str, data: st.DataObject) -> None:
    """Whatever the text, every mention has a context, and every quoted cue stands where it says."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    for cue in mention_context(text, start, end).cues:
        assert 0 <= cue.start <= cue.end <= len(text)
        assert cue.start == cue.end or text[cue.start : cue.end] == cue.quote


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(_cases(NEGATION, ENDED_NEGATION, HISTORICAL, OTHER_PERSON)),
    st.sampled_from(["- ", "* ", "3. "]),
)
def test_bullet_changes_nothing(case: tuple[str, str], bullet: str) -> None:
    """The same sentence as a list item, after another sentence, has the same context."""
    roles, marked = case
    text, start, end = _mark(marked)
    before = f"He was seen today.\n{bullet}"
    assert _roles(mention_context(before + text, start + len(before), end + len(before))) == roles


@pytest.mark.parametrize(
    "unit", ["no fever and ", "no ", "mother ", "mother's ", "if ", "no (", "denied, ", "| no |\n"]
)
def test_cost_is_linear(unit: str) -> None:
    """Four times the text of nothing but near-matches takes about four times as long, not sixteen."""

    def cost(size: int) -> float:
        text = unit * (size // len(unit))

        def read_all() -> None:
            document = read(text)
            for index in range(len(document)):
                context_at(document, index, index)

        return cpu_seconds(read_all)

    cost(1_000)
    small, large = (min(cost(size) for _ in range(3)) for size in (6_000, 24_000))
    assert large < 14 * small + 0.3  # quadratic growth would be 16 times


def test_a_megabyte_of_one_letter() -> None:
    """One endless word is read as one, at a cost that grows with its length only."""
    assert mention_context("a" * 1_000_000, 10, 20) == MentionContext()

    def cost(size: int) -> float:
        return cpu_seconds(lambda: mention_context("a" * size, 10, 20))

    small, large = (min(cost(size) for _ in range(3)) for size in (250_000, 1_000_000))
    assert large < 14 * small + 0.3  # quadratic growth would be 16 times

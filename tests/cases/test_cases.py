"""Case files: what is accepted, and the one sentence that a bad file gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from pytest_clinical_drift import load_cases
from pytest_clinical_drift.cases.files import bundled_cases, hash_cases
from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.errors import InputError


def case_data(**changes: object) -> dict[str, object]:
    """A small valid case, with fields replaced; a value of None removes the field."""
    data: dict[str, object] = {
        "id": "gout-baker",
        "persona_id": "olga",
        "patient_summary": "Olga, 50, takes allopurinol 100 mg once daily and is allergic to penicillin.",
        "critical_entities": [
            {"id": "allopurinol", "text": "allopurinol 100 mg once daily"},
            {"id": "penicillin", "text": "penicillin allergy", "kind": "allergy", "hard_stop": True},
        ],
        "turns": [
            {"turn": 1, "message": "My toe hurts."},
            {"turn": 2, "message": "Still."},
            {"turn": 3, "message": "Better."},
        ],
    }
    data.update(changes)
    return {key: value for key, value in data.items() if value is not None}


def write(folder: Path, data: object, name: str = "case.yaml") -> Path:
    file = folder / name
    file.write_text(json.dumps(data) if name.endswith(".json") else yaml.safe_dump(data), encoding="utf-8")
    return file


def fault(folder: Path, data: object, name: str = "case.yaml") -> str:
    with pytest.raises(InputError) as caught:
        load_cases(write(folder, data, name))
    message = str(caught.value)
    assert "\n" not in message
    assert name in message
    return message


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"persona_id": "\ud800"}, "persona_id"),
        ({"tags": ["\ud800"]}, "tags 1"),
        ({"critical_entities": [{"id": "\ud800", "text": "gout"}]}, "fact 1: id"),
    ],
    ids=["persona", "tag", "fact"],
)
def test_half_a_surrogate_pair_is_refused(tmp_path: Path, changes: dict[str, object], field: str) -> None:
    """JSON can write what no hash, no file and no server takes."""
    said = fault(tmp_path, case_data(**changes), "case.json")
    assert said.endswith(f": {field}: expected text without halves of surrogate pairs, found '\\ud800'")


def test_not_a_number_is_refused(tmp_path: Path) -> None:
    """NaN is no JSON, whatever Python thinks of it."""
    assert "NaN is not a finite number" in fault(tmp_path, case_data(id=float("nan")), "case.json")


def test_plain_strings_are_facts_with_a_derived_id(tmp_path: Path) -> None:
    """The seeds' plain strings become facts; the id is the text in slug form."""
    (case,) = load_cases(write(tmp_path, case_data(critical_entities=["Sertraline 50mg", "lives alone"])))
    assert [fact.id for fact in case.critical_entities] == ["sertraline-50mg", "lives-alone"]
    assert case.critical_entities[0].text == "Sertraline 50mg"
    assert not case.critical_entities[0].hard_stop


@pytest.mark.parametrize("wrap", [lambda cases: cases, lambda cases: {"cases": cases}], ids=["list", "cases-key"])
def test_original_json_shapes_are_read(tmp_path: Path, wrap: object) -> None:
    """The original's flat list and {"cases": […]} load, bookkeeping fields of theirs are left out."""
    entries = [case_data(id="a", num_turns=3), case_data(id="b", persona_id=None)]
    cases = load_cases(write(tmp_path, wrap(entries), "all.json"))  # type: ignore[operator]
    assert [case.id for case in cases] == ["a", "b"]
    assert cases[1].persona_id == "b"


def test_folder_is_read_in_stable_order(tmp_path: Path) -> None:
    """A folder's files are read by name, whatever their ending."""
    write(tmp_path, case_data(id="z"), "1.json")
    write(tmp_path, case_data(id="a"), "2.yaml")
    assert [case.id for case in load_cases(tmp_path)] == ["z", "a"]


def test_same_id_in_two_files_names_both(tmp_path: Path) -> None:
    """Two cases of one id are refused, with both places."""
    write(tmp_path, case_data(), "one.yaml")
    write(tmp_path, case_data(), "two.yaml")
    with pytest.raises(InputError, match=r"two\.yaml.*'gout-baker'.*one\.yaml"):
        load_cases(tmp_path)


def test_missing_path_and_empty_folder_are_said(tmp_path: Path) -> None:
    """A path that is not there and a folder without cases are input errors."""
    with pytest.raises(InputError, match="no such file or folder"):
        load_cases(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no case found"):
        load_cases(tmp_path)


def test_unreadable_yaml_gives_the_line(tmp_path: Path) -> None:
    """Broken YAML is answered with file and line."""
    (tmp_path / "broken.yaml").write_text("id: x\nturns: [1, 2\nmore: y\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"broken\.yaml, line \d+: not valid YAML"):
        load_cases(tmp_path)


def test_not_utf8_is_said(tmp_path: Path) -> None:
    """A file in another encoding is an input error, not a traceback."""
    (tmp_path / "latin.yaml").write_bytes("id: caf\xe9".encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        load_cases(tmp_path)


def test_unknown_field_gives_line_and_advice(tmp_path: Path) -> None:
    """An unknown field is named with its line."""
    file = tmp_path / "case.yaml"
    file.write_text(yaml.safe_dump(case_data()) + "colour: blue\n", encoding="utf-8")
    line = file.read_text(encoding="utf-8").splitlines().index("colour: blue") + 1
    with pytest.raises(InputError, match=rf"line {line}: colour: unknown field"):
        load_cases(file)


def test_unknown_field_deep_inside_is_located(tmp_path: Path) -> None:
    """Turns are named by their number, not counted from 0."""
    turns = [{"turn": 1, "message": "a"}, {"turn": 2, "message": "b", "mood": "low"}]
    assert "turn 2: mood: unknown field" in fault(tmp_path, case_data(turns=turns))


def test_misspelt_field_of_a_fact_names_the_fact_and_the_right_spelling(tmp_path: Path) -> None:
    """Facts are named by their id, and the nearest field that may stand there is offered."""
    facts = ["lives alone", {"id": "heart-failure", "text": "heart failure", "hardstop": True}]
    message = fault(tmp_path, case_data(critical_entities=facts))
    assert message.endswith("fact heart-failure: hardstop: unknown field; did you mean hard_stop?")
    turns = [{"turn": 1, "message": "a"}, {"turn": 2, "message": "b", "expect": {"must_nut": ["take ibuprofen"]}}]
    message = fault(tmp_path, case_data(turns=turns))
    assert message.endswith("turn 2: expect.must_nut: unknown field; did you mean must_not?")


def test_fault_in_a_list_of_cases_names_the_case(tmp_path: Path) -> None:
    """In the original's files the case is named as well."""
    broken = case_data(id="b", critical_entities=[{"id": "gout", "text": " "}])
    message = fault(tmp_path, {"cases": [case_data(id="a"), broken]}, "all.json")
    assert "case b: fact gout: text: " in message


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"critical_entities": []}, "list of facts is empty"),
        ({"critical_entities": None}, "critical_entities: required field is missing"),
        ({"turns": [{"turn": 1, "message": "only"}]}, "at least 2 turns"),
        ({"turns": [{"turn": 1, "message": "a"}, {"turn": 3, "message": "b"}]}, "without gaps, found [1, 3]"),
        ({"id": "has blank"}, "id:"),
        ({"patient_summary": "  "}, "patient_summary:"),
        ({"critical_entities": ["lives alone", "Lives alone"]}, "occurs twice"),
        (
            {"critical_entities": [{"id": "a", "text": "lives alone"}, {"id": "b", "text": "Lives  alone"}]},
            "the facts 'a' and 'b' have one text and would count twice",
        ),
    ],
)
def test_faults_are_told_in_one_sentence(tmp_path: Path, changes: dict[str, object], expected: str) -> None:
    """Each fault of content is one sentence that names the file."""
    assert expected in fault(tmp_path, case_data(**changes))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("hello", "and turns, found 'hello'"),
        (case_data(turns=[{"turn": 1, "message": None}]), "found nothing"),
        ({"cases": "hello"}, "'cases' must be a list of cases, found 'hello'"),
    ],
)
def test_what_was_found_is_said_without_names_of_types(tmp_path: Path, data: object, found: str) -> None:
    """The value itself, not `a str` or `None`."""
    assert found in fault(tmp_path, data)


def test_update_must_name_a_fact(tmp_path: Path) -> None:
    """An update of nothing is refused, with the facts there are."""
    turns = [{"turn": 1, "message": "a"}, {"turn": 2, "message": "b", "updates": [{"fact": "warfarin", "ended": True}]}]
    message = fault(tmp_path, case_data(turns=turns))
    assert "'warfarin'" in message
    assert "allopurinol, penicillin" in message
    lines = (tmp_path / "case.yaml").read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.endswith("fact: warfarin"))
    assert f"case.yaml, line {line}: turn 2 updates 'warfarin'" in message
    turns[1]["updates"] = [{"fact": "alopurinol", "ended": True}]
    assert fault(tmp_path, case_data(turns=turns)).endswith("did you mean allopurinol?")


def test_update_needs_exactly_one_outcome(tmp_path: Path) -> None:
    """`becomes` and `ended` exclude each other, and one is needed."""
    turns = [{"turn": 1, "message": "a"}, {"turn": 2, "message": "b", "updates": [{"fact": "allopurinol"}]}]
    assert "exactly one of" in fault(tmp_path, case_data(turns=turns))


def updated_case() -> Case:
    turns = [
        {"turn": 1, "message": "a"},
        {
            "turn": 2,
            "message": "b",
            "updates": [
                {"fact": "allopurinol", "becomes": "allopurinol 300 mg once daily"},
                {"fact": "penicillin", "becomes": "not allergic to penicillin"},
            ],
            "introduces": ["uric acid 480 µmol/L"],
        },
        {"turn": 3, "message": "c", "updates": [{"fact": "allopurinol", "ended": True}]},
    ]
    return Case.model_validate(case_data(turns=turns))


def test_facts_change_from_the_turn_of_their_update() -> None:
    """An update counts from its own turn on and leaves the old text as superseded."""
    case = updated_case()
    first, second, third = (facts_at(case, turn) for turn in (1, 2, 3))
    assert [state.fact.text for state in first] == ["allopurinol 100 mg once daily", "penicillin allergy"]
    assert second[0].fact.text == "allopurinol 300 mg once daily"
    assert second[0].superseded == ("allopurinol 100 mg once daily",)
    assert second[2].fact.text == "uric acid 480 µmol/L"
    assert third[0].ended
    assert third[0].superseded == ("allopurinol 100 mg once daily", "allopurinol 300 mg once daily")


def test_a_value_that_comes_back_is_no_earlier_one() -> None:
    """12 → 25 → 12: only 25 has been replaced, also where capitals and spaces differ."""
    case = Case.model_validate(
        {
            "id": "back",
            "persona_id": "back",
            "patient_summary": "On a fentanyl patch 12 micrograms/hour.",
            "critical_entities": [{"id": "patch", "text": "fentanyl patch 12 micrograms/hour"}],
            "turns": [
                {
                    "turn": 1,
                    "message": "The doctor raised it.",
                    "updates": [{"fact": "patch", "becomes": "fentanyl patch 25 micrograms/hour"}],
                },
                {
                    "turn": 2,
                    "message": "Back to the old one.",
                    "updates": [{"fact": "patch", "becomes": "Fentanyl patch  12 micrograms/hour"}],
                },
            ],
        }
    )
    (state,) = facts_at(case, 2)
    assert state.fact.text == "Fentanyl patch  12 micrograms/hour"
    assert state.superseded == ("fentanyl patch 25 micrograms/hour",)


def test_hard_stop_is_not_superseded_by_a_claim() -> None:
    """Without a policy an update of a hard stop is an unverified claim: the old fact stays."""
    state = facts_at(updated_case(), 2)[1]
    assert state.fact.text == "penicillin allergy"
    assert state.superseded == ()


def test_horizon_is_turn_ten_or_the_last() -> None:
    """Recall@T10 is read at turn 10, or at the end of a shorter case."""
    assert updated_case().t10_turn == 3
    twelve = [{"turn": n, "message": "m"} for n in range(1, 13)]
    assert Case.model_validate(case_data(turns=twelve)).t10_turn == 10


def test_hash_depends_on_content_only() -> None:
    """Order of cases does not matter to the fingerprint, a changed word does."""
    one = Case.model_validate(case_data(id="one"))
    two = Case.model_validate(case_data(id="two"))
    changed = Case.model_validate(case_data(id="two", patient_summary="Another patient."))
    assert hash_cases([one, two]) == hash_cases([two, one])
    assert hash_cases([one, two]) != hash_cases([one, changed])
    signature = {"by": "Dr Quill", "role": "GP", "when": "2026-05-01", "hash": "x"}
    assert hash_cases([one]) == hash_cases([Case.model_validate(case_data(id="one", reviewed=signature))])


def test_bundled_cases_load_with_unique_personas() -> None:
    """The cases we ship load, and no persona is used twice."""
    cases = load_cases(bundled_cases())
    assert len(cases) >= 12
    assert len({case.persona_id for case in cases}) == len(cases)

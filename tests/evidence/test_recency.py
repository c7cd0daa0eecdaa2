"""Facts about the last time of something: the time decides, and without one nothing is stated."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.retention import assess_retention

RETAINED, PARTIAL, CONTRADICTED, ABSENT = "retained", "partial", "contradicted", "absent"

LAST_TIMES = {
    "last seizure in June": {
        "His last seizure was in June.": RETAINED,
        "Focal epilepsy, treated with lamotrigine.": ABSENT,
        "Last seizure: October.": CONTRADICTED,
        "Seizures: the most recent one came this summer.": PARTIAL,
    },
    "last cut herself two weeks ago": {
        "She last cut herself a fortnight ago.": RETAINED,
        "She last cut herself 14 days ago.": RETAINED,
        "She cut herself yesterday, the first time this month.": CONTRADICTED,
        "She cuts herself when things get too much.": ABSENT,
    },
    "last drink 8 hours ago": {
        "His last drink was eight hours ago.": RETAINED,
        "He is dependent on alcohol and drinks vodka.": ABSENT,
    },
    "last manic episode in May 2021": {
        "His most recent manic episode was in May 2021; there are no signs of mania at present.": RETAINED,
    },
}


@pytest.mark.parametrize("fact", LAST_TIMES)
def test_last_time_is_judged_by_when_it_was(fact: str) -> None:
    """Another time contradicts; the event without a time does not state when it last happened."""
    found = {text: assess_retention(text, [fact])[0].status for text in LAST_TIMES[fact]}
    assert found == LAST_TIMES[fact]

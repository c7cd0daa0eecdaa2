"""What this clinic demands beyond the gate, in its own words."""


def test_allergies_are_never_lost(drift_case, drift_result):
    """Every summary of every turn still names each allergy."""
    for turn in drift_result.assessment.turns:
        for finding in turn.findings:
            if finding.hard_stop:
                assert finding.status == "retained", f"turn {turn.turn}: {finding.reason}"

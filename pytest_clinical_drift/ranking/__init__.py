"""Drug-repurposing rankers as test subjects: frozen slates, retrospective and prospective figures."""

"""For those who write cases: checks of their quality, and target plans for those that lack one."""

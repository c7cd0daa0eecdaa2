"""The parts of the control subjects: hearing, memory, voice, medicine, and the failures built from them."""

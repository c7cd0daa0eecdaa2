"""The dossier as values: what each part of the page shows, ready to be printed. The templates have its words."""

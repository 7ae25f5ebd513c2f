"""Sphinx reads this: the manual as HTML.  Built by jobs/manual/build.sh."""
project = "Lockstep"
author = "the Lockstep developers"
html_title = "Lockstep"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["_build"]
html_theme = "furo"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_static_path = ["style"]
html_css_files = ["manual.css"]
html_theme_options = {"navigation_with_keys": True, "top_of_page_button": None}
# Headings down to this depth can be linked to, as on GitHub: page.md#a-heading.
myst_heading_anchors = 4
# Blocks without a language are commands, what they print, and YAML.
highlight_language = "none"
# Options begin with two hyphens, which are no dash.
smartquotes = False

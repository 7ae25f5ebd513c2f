"""A chart of an experiment: a group of bars per benchmark."""


def draw_bars(table, columns, unit, title, path):
    """`table`: {benchmark: [percent by column]}."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plot
    canvas, axis = plot.subplots(figsize=(12, 4.5))
    width = 0.85 / len(columns)
    for i, column in enumerate(columns):
        places = [x + (i - (len(columns) - 1) / 2) * width for x in range(len(table))]
        axis.bar(places, [row[i] for row in table.values()], width, label=column)
    axis.axhline(100, color="black", linewidth=0.8)
    axis.set_xticks(range(len(table)), table, rotation=30)
    axis.set_ylabel(unit)
    axis.set_title(title)
    axis.legend(ncol=2, fontsize=7)
    canvas.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas.savefig(path, dpi=120)
    print(f"drawn: {path}")

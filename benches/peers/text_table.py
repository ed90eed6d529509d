"""Tables for a terminal and for Markdown."""


def render(header: list[str], rows: list[list[str]]) -> str:
    """A table with padded columns: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]

    def line(cells: list[str]) -> str:
        first = cells[0].ljust(widths[0])
        others = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:])]
        return f"| {' | '.join([first, *others])} |"

    rule = f"|{'|'.join('-' * (width + 1) + (':' if at else '-') for at, width in enumerate(widths))}|"
    return "\n".join([line(header), rule, *(line(row) for row in rows)])

import { html, type Markup } from './markup.ts'

/** A column of a table on a page. */
export interface PageColumn {
  readonly title: string
  readonly align?: 'left' | 'right'
}

/** A value of a row. A narrow screen leaves out blank ones. */
export interface PageCell {
  readonly content: Markup
  readonly blank?: boolean
}

/**
 * A table. On a narrow screen each row becomes a block: the first cell is its heading, the others follow with their
 * titles. The roles keep it a table for screen readers then.
 */
export function pageTable(
  label: string,
  columns: readonly PageColumn[],
  rows: readonly (readonly PageCell[])[],
  kind = '',
): Markup {
  const titles = columns.map(
    ({ title, align }) =>
      html`<th role="columnheader" scope="col" class="${align === 'right' ? 'num' : ''}">${sentence(title)}</th>`,
  )
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table class="${kind}" role="table" aria-label="${label}">
<thead role="rowgroup"><tr role="row">${titles}</tr></thead>
<tbody role="rowgroup">
${rows.map(row => rowMarkup(columns, row))}</tbody></table></div>
`
}

function rowMarkup(columns: readonly PageColumn[], row: readonly PageCell[]): Markup {
  const [head, ...others] = row
  const cells = others.map(({ content, blank = false }, at) => {
    const { title = '', align = 'left' } = columns[at + 1] ?? {}
    const kind = [align === 'right' ? 'num' : '', blank ? 'blank' : ''].filter(Boolean).join(' ')
    return html`<td role="cell" class="${kind}" data-title="${sentence(title)}">${content}</td>`
  })
  return html`<tr role="row"><th role="rowheader" scope="row">${head?.content}</th>${cells}</tr>
`
}

/** `TRACKING ID` as `Tracking id`: screen readers spell words in capitals. */
function sentence(title: string): string {
  return title.slice(0, 1).toUpperCase() + title.slice(1).toLowerCase()
}

import type { SummarizedStream } from '../../ops/summaries.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { textFormat } from '../field.ts'
import { healthOf, stateStyle } from '../listing/health.ts'
import { counted, type TimeStyle } from '../terminal/numbers.ts'
import { styleOf } from '../terminal/style.ts'
import type { Cell, Column } from '../terminal/table.ts'
import { cellMarkup, isBlank, styled } from './cell.ts'
import { html, type Markup, multiline } from './markup.ts'
import { facts, note, pageText, section } from './page.ts'
import { madeText, type PageOrigin } from './streams.ts'
import { pageTable } from './table.ts'

/** What a page of a listing says about itself. */
export interface ListingOrigin extends PageOrigin {
  /** The command that lists the same again, without the store. */
  readonly command: string
  /** What was left out, or that nothing was found: sentences. */
  readonly notes: readonly string[]
}

/** A table of a listing, its cells safe to print. */
export interface ListedTable {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly Cell[])[]
}

/** A page of a listing: the totals of the streams shown, the table, and the first failure of each failing stream. */
export function listingPage(
  table: ListedTable,
  items: readonly SummarizedStream[],
  origin: ListingOrigin,
  time: TimeStyle,
): string {
  const failed = failuresMarkup(items, origin.nowMs, time)
  const count = items.filter(hasFailure).length
  return pageText({
    title: counted(items.length, 'stream'),
    made: madeText(origin),
    content: html`${head(counted(items.length, 'stream'), origin)}
<main>
${items.length === 0 ? undefined : section('totals', 2, 'Totals', totalsMarkup(items, origin.nowMs))}${tableSection('Streams', table)}${
  failed &&
  html`<section class="failed" aria-labelledby="failures">
<h2 id="failures">${counted(count, 'stream')} with failures</h2>
${failed}</section>
`
}</main>`,
  })
}

/** A page of groups. @param summary number of streams, as a sentence */
export function groupsPage(table: ListedTable, summary: string, origin: ListingOrigin): string {
  return pageText({
    title: counted(table.rows.length, 'group'),
    made: madeText(origin),
    content: html`${head(counted(table.rows.length, 'group'), { ...origin, notes: [summary, ...origin.notes] })}
<main>
${tableSection('Groups', table)}</main>`,
  })
}

function head(title: string, { command, notes }: ListingOrigin): Markup {
  return html`<header class="top">
<h1>${title}</h1>
<p><code>${command}</code></p>
${notes.map(note)}</header>`
}

function tableSection(title: string, { columns, rows }: ListedTable): Markup | undefined {
  if (rows.length === 0) return undefined
  const cells = rows.map(row => row.map(cell => ({ content: cellMarkup(cell), blank: isBlank(cell) })))
  return section('table', 2, title, pageTable(title, columns, cells))
}

function totalsMarkup(items: readonly SummarizedStream[], nowMs: number): Markup {
  const { open, completed, failed, canceled, abandoned, overdue, blocked, suspended, unreadable } = healthOf(
    items,
    nowMs,
  )
  const count = (status: string, number: number, always = false) => {
    const { glyph, style } = stateStyle(status)
    return number === 0 && !always ? undefined : styled(`${glyph} ${number}`, number === 0 ? 'dim' : style)
  }
  return facts([
    ['Open', count('init', open, true)],
    ['Completed', count('completed', completed, true)],
    ['Failed, not acknowledged', count('aborted', failed, true)],
    ['With canceled events', count('canceled', canceled)],
    ['Abandoned', count('abandoned', abandoned)],
    ['Overdue', count('overdue', overdue)],
    ['Blocked', count('blocked', blocked)],
    ['Suspended', count('suspended', suspended)],
    ['Not readable', count('?', unreadable)],
  ])
}

function hasFailure({ summary, fault }: SummarizedStream): boolean {
  return fault !== undefined || (summary !== undefined && summary.failed > 0)
}

function failuresMarkup(items: readonly SummarizedStream[], nowMs: number, time: TimeStyle): Markup | undefined {
  const format = textFormat(nowMs, time)
  const failed = items.filter(hasFailure)
  if (failed.length === 0) return undefined
  const rows = failed.map(({ listed, summary, fault }) => {
    const name = html`<span class="strong">${visibleName(listed.name)}</span>`
    if (summary === undefined)
      return html`<li>${name} ${styled('? cannot be read', 'warn')}<pre>${multiline(fault?.message ?? '')}</pre></li>\n`
    const more = summary.failed > 1 ? `, the first of ${summary.failed}` : ''
    const when = summary.failedAtMs === undefined ? '' : `, ${format.past(summary.failedAtMs)}`
    return html`<li>${name} ${styled(`${styleOf('aborted').glyph} failed`, 'bad')} <span class="id">${summary.failedId}</span> ${visibleText(summary.failedName)}<span class="dim">${when}${more}</span>${
      summary.failure === ''
        ? html` <span class="dim">without a message</span>`
        : html`<pre>${multiline(summary.failure)}</pre>`
    }</li>\n`
  })
  return html`<ol class="list">
${rows}</ol>
`
}

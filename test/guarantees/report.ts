import type { Line } from './record.ts'
import { ROWS, type Row, type RowId } from './rows.ts'

/**
 * The status of a row. `missed`: a figure is beyond its limit. `open`: a figure, a negative control or the proof that
 * faults reached the code is missing, so nothing is proven.
 */
export type Verdict = 'kept' | 'broken' | 'missed' | 'open'

export interface RowReport {
  readonly id: RowId
  readonly promise: string
  readonly verdict: Verdict
  readonly figures: readonly string[]
  readonly controls: readonly string[]
  readonly injected: readonly string[]
  readonly skipped: readonly string[]
  /** Figures that no test reported. */
  readonly missing: readonly string[]
}

/** Every row of the table, reported or not. `failedRows`: the rows with a failed test. */
export function rowReports(lines: readonly Line[], failedRows: ReadonlySet<RowId>): RowReport[] {
  return (Object.entries(ROWS) as [RowId, Row][]).map(([id, row]) => {
    const said = lines.filter(line => line.row === id)
    return { id, promise: row.promise, ...whatWasSaid(said, row), verdict: verdictOf(said, row, failedRows.has(id)) }
  })
}

function verdictOf(said: readonly Line[], row: Row, failed: boolean): Verdict {
  const controls = said.filter(line => line.kind === 'control')
  if (failed || controls.some(control => !control.failed)) return 'broken'
  if (said.some(isMissed)) return 'missed'
  const isProven = missingOf(said, row).length === 0 && controls.length > 0 && haveReached(said)
  return isProven ? 'kept' : 'open'
}

/** At least one fault reached the code, and no expected one is missing. */
function haveReached(said: readonly Line[]): boolean {
  const injected = said.filter(line => line.kind === 'injected')
  return injected.length > 0 && injected.every(({ count }) => count > 0)
}

/** Limits are texts that begin with `0`, `at most 400` or `at least 20 000`; the test itself judges other remarks. */
function isMissed(line: Line): boolean {
  if (line.kind !== 'figure' || line.limit === undefined) return false
  const [, bound, digits] = /^(at most |at least |(?=0\b))(\d+(?: \d{3})*)\b/.exec(line.limit) ?? []
  if (digits === undefined) return false
  const limit = Number(digits.replaceAll(' ', ''))
  // A number may be followed by its conditions.
  const value = Number.parseFloat(String(line.value))
  return bound === 'at least ' ? value < limit : value > limit
}

function whatWasSaid(said: readonly Line[], row: Row) {
  return {
    figures: said
      .filter(line => line.kind === 'figure')
      .map(({ name, value, limit }) => `${name}: ${value}${limit === undefined ? '' : ` (${limit})`}`),
    controls: said
      .filter(line => line.kind === 'control')
      .map(({ name, failed }) => `${name}: ${failed ? 'fails, as it must' : 'PASSES ALL THE SAME'}`),
    injected: said.filter(line => line.kind === 'injected').map(({ name, count }) => `${name} ${count}`),
    skipped: said.filter(line => line.kind === 'skipped').map(({ name, why }) => `${name}: ${why}`),
    missing: missingOf(said, row),
  }
}

function missingOf(said: readonly Line[], { figures }: Row): string[] {
  const told = new Set(said.filter(line => line.kind === 'figure').map(({ name }) => name))
  return figures.filter(name => !told.has(name))
}

/**
 * The report as Markdown: a line for each row, then its figures.
 *
 * @param again the commands that repeat the test files with a failed test
 */
export function reportText(reports: readonly RowReport[], heading: string, again: readonly string[] = []): string {
  const kept = reports.filter(({ verdict }) => verdict === 'kept').length
  return [
    `# ${heading}`,
    '',
    `${kept} of ${reports.length} promises kept.`,
    '',
    ...(again.length > 0 ? ['Failed; to repeat it:', '', ...again.map(line => `    ${line}`), ''] : []),
    '| promise | verdict | figures | negative controls |',
    '|---|---|---|---|',
    ...reports.map(tableLine),
    '',
    ...reports.flatMap(details),
  ].join('\n')
}

function tableLine({ promise, verdict, figures, controls, missing }: RowReport): string {
  const told = [...figures, ...missing.map(name => `${name}: NOT TOLD`)].join('; ')
  return `| ${[promise, verdict, told, controls.join('; ') || 'NONE'].map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function details({ promise, injected, skipped }: RowReport): string[] {
  if (injected.length === 0 && skipped.length === 0) return []
  return [
    `## ${promise}`,
    '',
    ...(injected.length > 0 ? [`Reached the code: ${injected.join(', ')}.`] : []),
    ...skipped.map(text => `Not tried: ${text}.`),
    '',
  ]
}

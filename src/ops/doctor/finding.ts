/** `ok`: a check without a problem that is worth reporting. */
export type Severity = 'error' | 'warning' | 'info' | 'ok'

/** A finding of `doctor`. It contains raw texts of streams: printing must neutralize them. */
export interface Finding {
  readonly severity: Severity
  /** Stable, for scripts: `dangling-next`. */
  readonly code: string
  /** The id of an event or a step of the probe; `''` for the whole stream or store. */
  readonly subject: string
  /** The problem and its effect, a sentence without its full stop. */
  readonly message: string
  /** How to fix it, a sentence. */
  readonly hint?: string
  /** Number of findings that this one counts; 1 if absent. */
  readonly count?: number
  /** A command to copy, without the program's name. */
  readonly command?: readonly string[]
}

/** Worst first. */
const ORDER: readonly Severity[] = ['error', 'warning', 'info', 'ok']

/** Maximum number of findings of one kind; the others are counted. */
const MOST_OF_A_KIND = 20

/** The findings in order of severity, then as found; of each kind at most 20 and the number of the others. */
export function bounded(found: Iterable<Finding>): readonly Finding[] {
  const kinds = new Map<string, Finding[]>()
  const more = new Map<string, number>()
  for (const finding of found) {
    const kind = `${finding.severity} ${finding.code}`
    const known = kinds.get(kind)
    if (known === undefined) kinds.set(kind, [finding])
    else if (known.length < MOST_OF_A_KIND) known.push(finding)
    else more.set(kind, (more.get(kind) ?? 0) + 1)
  }
  const all = [...kinds].flatMap(([kind, list]) => [...list, ...rest(list[0], more.get(kind))])
  return all.sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity))
}

function rest(first: Finding | undefined, count: number | undefined): Finding[] {
  if (first === undefined || count === undefined) return []
  return [{ severity: first.severity, code: first.code, subject: '', message: `+${count} more of this kind`, count }]
}

/** A text of a stream for a message: in quotes, shortened. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

/** The first ids of a list and the number of the others. */
export function idList(ids: readonly string[]): string {
  const shown = ids.slice(0, 5).join(' ')
  return ids.length > 5 ? `${shown} +${ids.length - 5}` : shown
}

/** A size for display: `850 KiB`, `1.4 MiB`. */
export function sizeText(bytes: number): string {
  const kib = bytes / 1024
  return kib < 1000 ? `${Math.ceil(kib)} KiB` : `${(kib / 1024).toFixed(1)} MiB`
}

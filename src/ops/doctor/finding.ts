/** `ok` is a check that found nothing wrong and is worth telling. */
export type Severity = 'error' | 'warning' | 'info' | 'ok'

/** Something that `doctor` found. Texts of streams stand in it as they are: whoever prints them neutralises them. */
export interface Finding {
  readonly severity: Severity
  /** Stable, for scripts: `dangling-next`. */
  readonly code: string
  /** What it is about: the id of an event, a step of the probe; `''` for the stream or store as a whole. */
  readonly subject: string
  /** What it is and what it means, a sentence without its full stop. */
  readonly message: string
  /** What to do about it, a sentence. */
  readonly hint?: string
  /** How many findings of this kind it stands for; 1 if absent. */
  readonly count?: number
  /** A command to copy, its words behind the program's name. */
  readonly command?: readonly string[]
}

/** Worst first. */
const ORDER: readonly Severity[] = ['error', 'warning', 'info', 'ok']

/** Of one kind so many are told; the others are counted. */
const MOST_OF_A_KIND = 20

/** The findings in order of severity, then as they were found; of each kind at most 20, then how many more. */
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

/** A text of a stream inside a message: in quotes, shortened. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

/** The first few ids of a list and how many more there are. */
export function idList(ids: readonly string[]): string {
  const shown = ids.slice(0, 5).join(' ')
  return ids.length > 5 ? `${shown} +${ids.length - 5}` : shown
}

/** Bytes for people: `850 KiB`, `1.4 MiB`. */
export function sizeText(bytes: number): string {
  const kib = bytes / 1024
  return kib < 1000 ? `${Math.ceil(kib)} KiB` : `${(kib / 1024).toFixed(1)} MiB`
}

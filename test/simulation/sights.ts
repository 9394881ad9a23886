import type { EntrySight, EventSight, Wrote } from './happenings.ts'

/**
 * Reads written documents as plain text, line by line, and returns the differences from the last one of the stream. It
 * shares nothing with the reader under test, and is fast enough to see every write of a month.
 */
export class Sights {
  readonly #last = new Map<string, { readonly lines: ReadonlySet<string>; readonly version: number }>()

  /** The differences of a write. */
  of(stream: string, body: Uint8Array): Pick<Wrote, 'stream' | 'events' | 'entries'> {
    const before = this.#last.get(stream)
    const all = Buffer.from(body).toString('utf8').split('\n')
    const lines = all.filter(line => line.startsWith('  <Event '))
    const entries = entriesAfter(all, before?.version ?? 0)
    const version = entries.at(-1)?.version ?? before?.version ?? 0
    this.#last.set(stream, { lines: new Set(lines), version })
    return { stream, events: lines.filter(line => !before?.lines.has(line)).map(eventIn), entries }
  }
}

function eventIn(line: string): EventSight {
  const attributes = attributesIn(line)
  const text = (name: string) => attributes.get(name) ?? ''
  return {
    id: text('id'),
    status: text('status'),
    prev: text('prev'),
    created: text('created'),
    timestamp: text('timestamp'),
    timeout: text('timeout'),
    onDue: text('lc:onDue'),
    opened: text('lc:opened'),
    attempt: text('lc:attempt'),
    join: text('lc:join'),
    superseded: attributes.has('lc:superseded'),
    waits: attributes.has('lc:wait'),
    suspended: text('lc:suspended'),
  }
}

/** Entries are one per line, the latest last. */
function entriesAfter(lines: readonly string[], version: number): EntrySight[] {
  const entries: EntrySight[] = []
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] ?? ''
    if (line.startsWith('  <Event ')) break
    if (!line.startsWith('    <lc:tx ')) continue
    const attributes = attributesIn(line.slice(0, line.indexOf('>')))
    const text = (name: string) => attributes.get(name) ?? ''
    const entry = { version: Number(text('v')), by: text('by'), op: text('op'), on: text('on'), commandId: text('cmd') }
    if (entry.version <= version) break
    entries.unshift(entry)
  }
  return entries
}

const ATTRIBUTE = / ([\w:]+)="([^"]*)"/g

function attributesIn(line: string): Map<string, string> {
  const attributes = new Map<string, string>()
  for (const [, name = '', value = ''] of line.matchAll(ATTRIBUTE)) attributes.set(name, value)
  return attributes
}

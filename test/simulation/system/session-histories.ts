import type { StreamDocument } from '../../../src/stream/document.ts'
import { isFinal, type StreamEvent } from '../../../src/stream/event.ts'
import { parseJournal, type Transaction } from '../../../src/stream/journal/journal.ts'
import { decodeDocument } from '../../../src/stream/xml/decode.ts'
import { readDocument } from '../../../src/stream/xml/read.ts'
import { Sights } from '../sights.ts'

interface Recorded {
  readonly document: StreamDocument
  readonly journal: Map<number, Transaction>
  readonly events: Map<string, StreamEvent>
}

/** Sights that also record the whole history of sessions, which drop their oldest steps, and judge what they drop. */
export class SessionHistories extends Sights {
  readonly faults: { readonly stream: string; readonly why: string }[] = []
  readonly #recorded = new Map<string, Recorded>()

  override of(stream: string, body: Uint8Array) {
    if (stream.startsWith('q-')) this.#record(stream, readDocument(decodeDocument(body)))
    return super.of(stream, body)
  }

  /** All transactions and events that a session ever had; `undefined` for another stream. */
  whole(stream: string): { readonly journal: Transaction[]; readonly events: StreamEvent[] } | undefined {
    const recorded = this.#recorded.get(stream)
    return recorded && { journal: [...recorded.journal.values()], events: [...recorded.events.values()] }
  }

  #record(stream: string, document: StreamDocument): void {
    const before = this.#recorded.get(stream)
    const { journal, events } = before ?? { journal: new Map(), events: new Map() }
    const last = before?.document.version ?? 0
    const fault = (why: string) => this.faults.push({ stream, why: `version ${document.version}: ${why}` })
    for (const entry of parseJournal(document.journal, document.prefix)) {
      const known = journal.get(entry.version)
      if (known === undefined && entry.version <= last) fault(`the entry ${entry.version} came late`)
      if (known !== undefined && known.commandId !== entry.commandId) fault(`the entry ${entry.version} is another one`)
      if (known === undefined) journal.set(entry.version, entry)
    }
    const ids = new Set(document.events.map(({ id }) => id))
    const dropped = before?.document.events.filter(({ id }) => !ids.has(id)) ?? []
    for (const { id, status } of dropped) {
      const waiting = document.events.find(event => !isFinal(event) && event.lc.after?.split('|').includes(id))
      if (status !== 'completed') fault(`${id} was dropped, which was ${status}`)
      if (waiting !== undefined) fault(`${id} was dropped, for which ${waiting.id} waits`)
      if (document.events.some(({ prev }) => prev === id)) fault(`${id} was dropped without what is below it`)
    }
    for (const event of document.events) {
      if (events.has(event.id) && !before?.document.events.some(({ id }) => id === event.id))
        fault(`the id ${event.id} was given again`)
      events.set(event.id, event)
    }
    this.#recorded.set(stream, { document, journal, events })
  }
}

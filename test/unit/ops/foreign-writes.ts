import type { StreamRow, StreamStore } from '../../../src/store/store.ts'
import { HOLDER } from './support.ts'

/** A writer that ignores the metadata beside the documents, as the library of 2013 does. */
export class ForeignWrites {
  /** The view of readers of summaries: one that a foreign write has left behind is invalid. */
  readonly store: StreamStore
  readonly #base: StreamStore
  readonly #written = new Set<string>()

  constructor(base: StreamStore) {
    this.#base = base
    const shown = <Row extends StreamRow>(row: Row): Row => {
      if (!this.#written.has(row.etag)) return row
      const { summary: _, ...rest } = row
      return rest as Row
    }
    const replaced: Pick<StreamStore, 'list' | 'read'> = {
      async *list(query) {
        for await (const page of base.list(query)) yield page.map(shown)
      },
      async read(name, signal) {
        const stored = await base.read(name, signal)
        return stored && shown(stored)
      },
    }
    this.store = new Proxy(base, {
      get(target, key) {
        if (Object.hasOwn(replaced, key)) return Reflect.get(replaced, key)
        const value: unknown = Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  /** Replaces texts of a document. @param texts pairs of old and new text */
  async write(name: string, ...texts: readonly (readonly [from: string, to: string])[]): Promise<void> {
    const outcome = await this.#base.update(
      name,
      ({ body, summary }) => {
        if (summary === undefined) throw new Error('every stream of the memory store has a summary')
        let text = Buffer.from(body).toString()
        for (const [from, to] of texts) {
          if (!text.includes(from)) throw new Error(`${name} does not hold ${from}: ${text}`)
          text = text.replace(from, to)
        }
        return { kind: 'put', body: Buffer.from(text), summary }
      },
      { waitMs: 0, holder: HOLDER },
    )
    if (outcome.kind !== 'committed') throw new Error(`${name}: ${outcome.kind}`)
    this.#written.add(outcome.etag)
  }

  /** Ends an event without its consequences. */
  end(name: string, id: string, from = 'init'): Promise<void> {
    return this.write(name, [`status="${from}" id="${id}"`, `status="completed" id="${id}"`])
  }
}

import { problem } from '../../cli/problem.ts'
import type { ReadSourceData } from '../../ops/copy-data.ts'
import { readDataBytes } from '../../ops/event-data.ts'
import { parseBody } from '../../ops/transact/plan.ts'
import type { StreamStore } from '../../store/store.ts'
import { BadDocument } from '../../stream/errors.ts'
import { goneOutcome, problemOutcome, type TransferOutcome } from './outcome.ts'

/** A document to copy into a store. */
export interface Item {
  /** Its name in the target store. */
  readonly name: string
  /** The source path, if the source is a file. */
  readonly place?: string
  /** Reads its bytes; `undefined` if the source is gone. */
  read(): Promise<Uint8Array | undefined>
  /** Reads data that is kept beside the document. */
  readonly readData: ReadSourceData
  /** An earlier item has the same name. */
  readonly isDuplicate?: boolean
}

/** A stream of another store. */
export function storeItem(store: StreamStore, name: string): Item {
  return {
    name,
    read: async () => (await store.read(name))?.body,
    readData: (data, born) => readDataBytes(store, { stream: name, born }, data),
  }
}

/** Yields the items and marks each whose name an earlier one has. */
export async function* markDuplicates(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  const names = new Set<string>()
  for await (const item of items) {
    yield names.has(item.name) ? { ...item, isDuplicate: true } : item
    names.add(item.name)
  }
}

/** Reads the bytes of an item; returns its outcome if there are none to copy. */
export async function readItem(item: Item): Promise<Uint8Array | TransferOutcome> {
  if (item.isDuplicate) return { ...problemOutcome('refused', item.name, duplicateProblem()), ...placeField(item) }
  const body = await item.read()
  return body ?? { ...goneOutcome(item.name), ...placeField(item) }
}

function duplicateProblem() {
  return problem('exists', 'two sources have this name', {
    exit: 5,
    hint: 'Import one of them with a different --prefix or --name.',
  })
}

export function placeField({ place }: Item): { readonly place?: string } {
  return place === undefined ? {} : { place }
}

/** The error of a copy. That of a document that cannot be read says that it is the source's: the stream there may be well. */
export function copyError({ name, place = 'the source' }: Item, body: Uint8Array, error: unknown): unknown {
  if (!(error instanceof BadDocument)) return error
  try {
    parseBody(body, undefined)
    return error
  } catch (fault) {
    if (!(fault instanceof BadDocument)) return error
    const hint = fault.hint ?? `This is ${place}, which is not copied; the stream was not changed.`
    return new BadDocument(fault.message, undefined, hint, name)
  }
}

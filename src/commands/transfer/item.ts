import { problem } from '../../cli/problem.ts'
import { gone, type Transferred, undone } from './outcome.ts'

/** A document on its way into a store. */
export interface Item {
  /** The name it gets. */
  readonly name: string
  /** Where it comes from, if that is not its name in a store. */
  readonly place?: string
  /** Its bytes, `undefined` if it is no longer there. */
  read(): Promise<Uint8Array | undefined>
  /** Another item before it gets the same name. */
  readonly again?: boolean
}

/** The same items; those whose name an earlier one has are marked. */
export async function* marked(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  const names = new Set<string>()
  for await (const item of items) {
    yield names.has(item.name) ? { ...item, again: true } : item
    names.add(item.name)
  }
}

/** Its bytes, or what became of it without them. */
export async function bytesOf(item: Item): Promise<Uint8Array | Transferred> {
  if (item.again) return { ...undone('refused', item.name, twice()), ...placeOf(item) }
  const body = await item.read()
  return body ?? { ...gone(item.name), ...placeOf(item) }
}

function twice() {
  return problem('exists', 'two of the sources give this name', {
    exit: 5,
    hint: 'Import one of them with another --prefix or --name.',
  })
}

export function placeOf({ place }: Item): { readonly place?: string } {
  return place === undefined ? {} : { place }
}

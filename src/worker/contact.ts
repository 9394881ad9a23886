import { StoreUnreachable } from '../store/errors.ts'
import type { Happening } from './loop-types.ts'

/** What a store was asked for: to find events, or to change them. */
type Asked = 'look' | 'change'

/** Tells of an outage once, when it begins, and of its end. */
export class Contact {
  readonly #tell: (happening: Happening) => void
  readonly #silent = new Set<Asked>()

  constructor(tell: (happening: Happening) => void) {
    this.#tell = tell
  }

  /** An answer of one kind says nothing of the other: a store may be read and not written. */
  answered(asked: Asked): void {
    if (this.#silent.delete(asked) && this.#silent.size === 0) this.#tell({ kind: 'resumed' })
  }

  /** The store could not do what it was asked for. */
  failed(asked: Asked, error: unknown, where: { readonly stream?: string; readonly event?: string } = {}): void {
    if (!(error instanceof StoreUnreachable)) this.#tell({ kind: 'fault', ...where, error })
    else {
      if (this.#silent.size === 0) this.#tell({ kind: 'interrupted', cause: error })
      this.#silent.add(asked)
    }
  }
}

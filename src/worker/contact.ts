import { StoreUnreachable } from '../store/errors.ts'
import type { Happening } from './types.ts'

/** What a store was asked for: to find events, or to change them. */
type Asked = 'look' | 'change'

/** Tells of an outage once, when it begins, and of its end; and of what keeps it from looking for events, once. */
export class Contact {
  readonly #tell: (happening: Happening) => void
  readonly #silent = new Set<Asked>()
  #lookFault: string | undefined

  constructor(tell: (happening: Happening) => void) {
    this.#tell = tell
  }

  /** An answer of one kind says nothing of the other: a store may be read and not written. */
  answered(asked: Asked): void {
    if (asked === 'look') this.#lookFault = undefined
    if (this.#silent.delete(asked) && this.#silent.size === 0) this.#tell({ kind: 'resumed' })
  }

  /** The store could not do what it was asked for. */
  failed(asked: Asked, error: unknown, where: { readonly stream?: string; readonly event?: string } = {}): void {
    if (!(error instanceof StoreUnreachable)) {
      const fault = asked === 'look' ? String(error) : undefined
      if (fault === undefined || fault !== this.#lookFault) this.#tell({ kind: 'fault', ...where, error })
      this.#lookFault = fault ?? this.#lookFault
    } else {
      if (this.#silent.size === 0) this.#tell({ kind: 'interrupted', cause: error })
      this.#silent.add(asked)
    }
  }
}

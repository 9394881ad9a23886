import type { StreamStore } from '../../store/store.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { RuntimeStore } from '../runtime.ts'

/** A change in a store that its context opens for reading only. Nothing was changed. */
export class ReadOnlyContext extends LeasectlError {
  readonly code = 'read-only'

  constructor({ context, address }: Pick<RuntimeStore, 'context' | 'address'>) {
    const what =
      context === undefined
        ? `${visibleText(address)} is the store of a read-only context`
        : `the context ${context} is read-only`
    const set = context === undefined ? '' : `, or context set ${context} --no-read-only`
    super(`${what}; nothing was changed`, {
      hint: `Use a context of this store that may change it${set}.`,
    })
  }
}

type Where = Pick<RuntimeStore, 'context' | 'address' | 'isReadOnly'>

/** Refuses a change before anything is asked or read. @throws ReadOnlyContext */
export function refuseReadOnly(where: Where): void {
  if (where.isReadOnly) throw new ReadOnlyContext(where)
}

/** What each method of a store does to it. */
const EFFECTS: { readonly [Method in keyof Required<StreamStore>]: 'reads' | 'writes' } = {
  address: 'reads',
  nowMs: 'reads',
  learnTime: 'reads',
  list: 'reads',
  changeToken: 'reads',
  read: 'reads',
  inspect: 'reads',
  close: 'reads',
  create: 'writes',
  update: 'writes',
  remove: 'writes',
  acquireLease: 'writes',
  renewLease: 'writes',
  changeLeaseId: 'writes',
  releaseLease: 'writes',
  breakLease: 'writes',
  createContainer: 'writes',
}

/** The store without its changes: each rejects with `ReadOnlyContext`, whatever command asks for it. */
export function readOnlyStore(store: StreamStore, where: Where): StreamStore {
  const refuse = () => Promise.reject(new ReadOnlyContext(where))
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      const effect = Object.hasOwn(EFFECTS, key) ? EFFECTS[key as keyof typeof EFFECTS] : 'writes'
      return effect === 'reads' ? value.bind(target) : refuse
    },
  })
}

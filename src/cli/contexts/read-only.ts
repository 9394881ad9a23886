import type { BlockLog } from '../../store/block-log.ts'
import type { ContainerLease, StreamStore } from '../../store/store.ts'
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

type Effects<Type> = { readonly [Member in keyof Required<Type>]: 'reads' | 'writes' }

/** What each method of a store does to it. */
const STORE: Effects<Omit<StreamStore, 'log' | 'containerLease'>> = {
  address: 'reads',
  nowMs: 'reads',
  learnTime: 'reads',
  list: 'reads',
  changeToken: 'reads',
  read: 'reads',
  readLeased: 'reads',
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

const LOG: Effects<BlockLog> = { read: 'reads', extent: 'reads', append: 'writes', trim: 'writes', remove: 'writes' }

const CONTAINER_LEASE: Effects<ContainerLease> = {
  container: 'reads',
  view: 'reads',
  acquire: 'writes',
  renew: 'writes',
  change: 'writes',
  release: 'writes',
  break: 'writes',
}

/** The store without its changes: each rejects with `ReadOnlyContext`, whatever command asks for it. */
export function readOnlyStore(store: StreamStore, where: Where): StreamStore {
  const { containerLease } = store
  return readOnly(store, STORE, where, {
    log: name => readOnly(store.log(name), LOG, where),
    ...(containerLease && { containerLease: readOnly(containerLease, CONTAINER_LEASE, where) }),
  })
}

/** @param own members in place of those of the target */
function readOnly<Type extends object>(target: Type, effects: object, where: Where, own: Partial<Type> = {}): Type {
  const refuse = () => Promise.reject(new ReadOnlyContext(where))
  return new Proxy(target, {
    get(_, key) {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key)
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      return Reflect.get(effects, key) === 'reads' ? value.bind(target) : refuse
    },
  })
}

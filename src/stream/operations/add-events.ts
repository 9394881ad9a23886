import { ROOT_ID } from '../event-id.ts'
import { addSuccessors, attributesOf } from './advance.ts'
import type { Draft } from './draft.ts'
import type { Operation, Refusal } from './operation.ts'
import { refuse } from './refuse.ts'

type Init = Extract<Operation, { op: 'init' }>

/** Creates the root and, if asked, a first fork. A document that has an event is `exists`. */
export function init(draft: Draft, operation: Init): Refusal | undefined {
  const { root } = draft.stream
  if (root !== undefined) {
    return refuse('exists', root, `the stream exists; its root ${root.id} is ${root.status || 'of no status'}`)
  }
  const { onDue } = operation.root
  draft.add(
    { ...attributesOf(operation.root, ''), id: ROOT_ID, status: operation.hold ? 'init' : 'inprocess' },
    onDue === undefined ? {} : { onDue },
  )
  addSuccessors(draft, 0, operation)
  return undefined
}

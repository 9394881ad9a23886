import { LeasectlError } from '../../stream/errors.ts'

/**
 * The stream was removed while a change of it was under way, and another one has its name: whether the change was made before,
 * only the journal that is gone could tell. It is not made in the other one.
 */
export class StreamReplaced extends LeasectlError {
  readonly code = 'unknown'
}

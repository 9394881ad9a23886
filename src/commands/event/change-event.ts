import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { Operation } from '../../stream/operations/operation.ts'
import { type EventOptions, lifeOf } from './flags.ts'

/**
 * What a worker does to its event, in the life of the stream in which its claim was made.
 *
 * @param word what it is called when it is done: `completed`
 */
export async function changeEvent(
  options: EventOptions,
  operation: Operation,
  word: string,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { changeOne } = await import('./run.ts')
  const { stream, event } = options
  const purpose = `event ${operation.op} ${event}`
  return changeOne({ stream, options, operation, life: lifeOf(options, runtime), word, purpose }, runtime)
}

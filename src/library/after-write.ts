import type { ChangeResult } from '../stream/operations/operation.ts'
import { callback } from '../stream/values.ts'

/**
 * For `afterWrite`: calls `fire` with the id of each join that the change released, all its branches having ended. However many
 * workers end the branches at the same time, exactly one of them sees that.
 *
 * ```ts
 * afterWrite: onJoined(join => queue.send({ stream: 'orders/4711', event: join }))
 * ```
 *
 * A worker's `afterWrite` gets the job too, and so does `fire`.
 */
export function onJoined<Rest extends readonly unknown[]>(
  fire: (join: string, result: ChangeResult, ...rest: Rest) => void | Promise<void>,
): (result: ChangeResult, ...rest: Rest) => Promise<void> {
  callback(fire, 'fire')
  return async (result, ...rest) => {
    for (const join of result.joined) await fire(join, result, ...rest)
  }
}

/** For `afterWrite`: calls `fire` when the change ended the stream. Of all who change the stream exactly one sees that. */
export function onDone<Rest extends readonly unknown[]>(
  fire: (result: ChangeResult, ...rest: Rest) => void | Promise<void>,
): (result: ChangeResult, ...rest: Rest) => Promise<void> {
  callback(fire, 'fire')
  return async (result, ...rest) => {
    if (result.done && result.outcome === 'done') await fire(result, ...rest)
  }
}

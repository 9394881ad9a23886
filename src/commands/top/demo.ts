import type { GlobalOptions } from '../../cli/options.ts'
import { type DemoResult, type PlayOptions, play } from '../../demo/play.ts'
import type { ProgramRuntime } from './dashboard.ts'
import { openTop } from './open.ts'

/**
 * Plays the demo while the dashboard shows its stream. Quitting the dashboard stops the demo and its workers.
 *
 * @returns `undefined` if it was stopped early
 * @throws the failure of the demo, after the screen is closed
 */
export async function playInTop(
  options: Omit<PlayOptions, 'signal' | 'show'>,
  { color, time }: GlobalOptions,
  runtime: ProgramRuntime,
): Promise<DemoResult | undefined> {
  const { opened } = runtime
  if (opened === undefined) throw new Error('no store was opened')
  const quit = new AbortController()
  const stop = () => quit.abort(runtime.signal.reason)
  runtime.signal.addEventListener('abort', stop, { once: true })
  const ended = play(opened.store, { ...options, signal: quit.signal, show() {} }).then(
    played => ({ kind: 'played', played }) as const,
    (error: unknown) => ({ kind: 'failed', error, wasStopped: quit.signal.aborted }) as const,
  )
  try {
    await openTop(
      {
        writes: 'locked',
        stream: options.stream,
        ...(color === undefined ? {} : { color }),
        ...(time === undefined ? {} : { time: time === 'iso' ? 'utc' : time }),
      },
      runtime,
    )
  } finally {
    quit.abort()
    runtime.signal.removeEventListener('abort', stop)
    await ended
  }
  const end = await ended
  if (end.kind === 'played') return end.played
  if (end.wasStopped) return undefined
  throw end.error
}

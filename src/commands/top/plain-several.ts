import { errorProblem } from '../../cli/error-problem.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { CommandFailed, type Problem } from '../../cli/problem.ts'
import { tellProblem } from '../../cli/problem-text.ts'
import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { TopOptions } from './options.ts'
import { followStreams, listStreams, plainInterval } from './plain.ts'

/**
 * Several stores as lines: the streams of each below its name once it has answered, then the transactions of all. A store
 * that does not answer is told and tried again; one that cannot be read at all is told and left out. Runs until a signal.
 *
 * @returns the problem of the first store if none of them can be read
 */
export async function plainSeveral(
  options: TopOptions,
  stores: readonly RuntimeStore[],
  runtime: Runtime,
): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const news = await openOutput(options, runtime, 'local')
  const problems = await Promise.all(stores.map(store => showOne(options, store, output, news, runtime)))
  const [first] = problems
  return problems.every(problem => problem !== undefined) ? first : undefined
}

async function showOne(
  options: TopOptions,
  opened: RuntimeStore,
  output: Output,
  news: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { store, context = '' } = opened
  const since = { kind: 'at', ms: store.nowMs() } as const
  try {
    await listUntilAnswered(options, opened, output, runtime)
    if (runtime.signal.aborted) return undefined
    return await followStreams({ ...options, context }, since, store, sayingOf(news, context), runtime)
  } catch (error) {
    const isExpected = error instanceof LeasectlError || error instanceof CommandFailed
    if (runtime.signal.aborted || !isExpected) throw error
    const problem = errorProblem(error, runtime, opened)
    await tellProblem({ ...problem, message: `${context}: ${problem.message}` }, options, runtime)
    return problem
  }
}

/** Lists the streams of a store in one piece, so that those of other stores do not come between them. */
async function listUntilAnswered(
  options: TopOptions,
  { store, context = '' }: RuntimeStore,
  output: Output,
  runtime: Runtime,
): Promise<void> {
  let isTold = false
  while (!runtime.signal.aborted) {
    const { piece, text } = pieceOf(output)
    try {
      await listStreams({ ...options, context }, store, piece, runtime)
      return await output.text(`${visibleText(`${context}, ${store.address}`)}\n${text()}\n`)
    } catch (cause) {
      if (!(cause instanceof StoreUnreachable) || runtime.signal.aborted) throw cause
      if (!isTold) await output.say(`-- ${context}: ${visibleText(cause.message)}; trying again`)
      isTold = true
      await sleepUntilAborted(plainInterval(options, store), runtime.signal)
    }
  }
}

/** An output that keeps what is written to it. */
function pieceOf(output: Output): { readonly piece: Output; text(): string } {
  const parts: string[] = []
  const keep = async (text: string | Uint8Array) =>
    void parts.push(typeof text === 'string' ? text : Buffer.from(text).toString())
  const piece: Output = {
    ...output,
    text: keep,
    lines: async lines => (lines.length === 0 ? undefined : keep(`${lines.join('\n')}\n`)),
  }
  return { piece, text: () => parts.join('') }
}

/** Its messages name the store. */
function sayingOf(output: Output, context: string): Output {
  return { ...output, say: sentence => output.say(sentence.replace(/^(-- )?/, `$1${visibleText(context)}: `)) }
}

import type { GlobalOptions } from './options.ts'
import type { Problem } from './problem.ts'
import { problemJsonLine, problemLines } from './problem-text.ts'
import type { Runtime } from './runtime.ts'

/** Tells on stderr what is wrong with one of several streams, as an error would be told, while the rest goes on. */
export async function tellProblem(what: Problem, { output }: GlobalOptions, runtime: Runtime): Promise<void> {
  if (output === 'json' || output === 'ndjson') await runtime.stderr.write(problemJsonLine(what))
  else await runtime.stderr.write(`${problemLines(what, runtime.nowMs()).join('\n')}\n`)
}

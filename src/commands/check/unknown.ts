import { valuesIn } from '../../cli/argv.ts'
import type { Problem } from '../../cli/problem.ts'
import { problemJson } from '../../cli/problem-text.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { type CheckContext, EXITS, unknownJson } from '../../formats/check/json.ts'
import { nagiosUnknown } from '../../formats/check/nagios.ts'
import { unknownMetrics } from '../../formats/check/prometheus.ts'
import { jsonDocument } from '../../formats/json.ts'

/**
 * Prints why `check` has no result. It goes to stdout, in the requested format, as monitoring reads nothing else. The
 * arguments are read unparsed, as the error may be in them.
 */
export async function printUnknown(what: Problem, runtime: Runtime): Promise<void> {
  await runtime.stdout.write(unknownText(what, runtime))
}

function unknownText(what: Problem, runtime: Runtime): string {
  switch (valuesIn(runtime.argv, '-o', '--output').at(-1)) {
    case 'json': {
      const error = problemJson({ ...what, exit: EXITS.unknown })
      return jsonDocument(unknownJson(what.message, error, contextOf(runtime)))
    }
    case 'prometheus':
      return unknownMetrics(what.message, what.code, contextOf(runtime))
    default:
      return `${nagiosUnknown(what.message, what.code, factsOf(what)).join('\n')}\n`
  }
}

/** Hints and facts, one line each. */
export function factsOf({ hint, facts = [], tryCommand }: Problem): string[] {
  return [
    ...facts.map(([label, text]) => `${label}: ${text}`),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
    ...(tryCommand === undefined ? [] : [`try: ${tryCommand}`]),
  ]
}

function contextOf(runtime: Runtime): CheckContext {
  const [match] = valuesIn(runtime.argv, '--match', '--match').slice(-1)
  return { store: runtime.opened?.address, match: match || undefined, atMs: runtime.nowMs(), tookMs: undefined }
}

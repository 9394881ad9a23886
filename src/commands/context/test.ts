import { creationHint } from '../../cli/error-problem.ts'
import { exitOfRefusal } from '../../cli/exit-codes.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import type { Runtime, RuntimeStore, StoreChoice } from '../../cli/runtime.ts'
import { sourceText, storeChoice } from '../../cli/store.ts'
import { stepJson } from '../../formats/doctor.ts'
import { jsonDocument } from '../../formats/json.ts'
import { type Cell, table } from '../../formats/terminal/table.ts'
import { type ProbeStep, probeStore } from '../../ops/doctor/probe.ts'
import { visibleText } from '../../util/visible-text.ts'

export interface TestContextOptions extends GlobalOptions {
  /** Default: the store that other commands use. */
  readonly name?: string
}

/** Runs every operation that other commands need on a real store, and prints the outcome of each. */
export async function testContext(options: TestContextOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const opened = await runtime.openStore(choiceOf(options))
  const { actor, signal } = runtime
  const newId = () => runtime.newId()
  if (options.output !== 'json') await output.say(`store: ${visibleText(opened.address)} (${sourceText(opened)})`)
  const steps = await probeStore(opened.store, { write: true, newId, actor, signal })
  await print(options, opened, steps, output)
  const broken = steps.find(({ outcome }) => outcome === 'refused' || outcome === 'failed')
  return broken === undefined ? undefined : stepProblem(broken, opened, runtime)
}

function choiceOf(options: TestContextOptions): StoreChoice {
  const { name, store, container, context } = options
  if (name === undefined) return storeChoice(options)
  if ((store ?? container ?? context) === undefined) return { context: name }
  throw new UsageError('the argument and a flag both name a store', { hint: 'Use one of them.' })
}

async function print(
  options: TestContextOptions,
  { address, context }: RuntimeStore,
  steps: readonly ProbeStep[],
  output: Output,
): Promise<void> {
  if (options.output === 'json') {
    const ok = steps.every(({ outcome }) => outcome === 'ok')
    await output.text(jsonDocument({ store: address, context: context ?? null, ok, steps: steps.map(stepJson) }))
  } else {
    const width = output.width === undefined ? {} : { width: output.width }
    await output.lines(table(COLUMNS, steps.map(row), { paint: output.paint, ...width }))
  }
}

const COLUMNS = [
  { title: 'STEP' },
  { title: 'OUTCOME' },
  { title: 'TIME', align: 'right' },
  { title: 'WHY', give: 1, min: 20 },
] as const

const STYLES = { ok: 'good', refused: 'bad', failed: 'bad', skipped: 'dim' } as const

function row({ name, outcome, ms, message = '' }: ProbeStep): Cell[] {
  const time = outcome === 'skipped' ? '' : `${ms} ms`
  return [name, { text: outcome, style: STYLES[outcome] }, time, visibleText(message)]
}

function stepProblem(
  { name, outcome, code = 'unexpected', message, hint }: ProbeStep,
  opened: RuntimeStore,
  runtime: Runtime,
): Problem {
  const advice = code === 'container-missing' ? creationHint(runtime) : hint
  const why = message === undefined ? '' : `: ${message}`
  return problem(code, `${opened.address}: ${name} ${outcome}${why}`, {
    exit: exitOfRefusal(code),
    ...(advice === undefined ? {} : { hint: advice }),
  })
}

import { constants, tmpdir } from 'node:os'
import { errorProblem, interruptedProblem } from '../../cli/error-problem.ts'
import { exitOfRefusal } from '../../cli/exit-codes.ts'
import { outcomeProblem, replacedProblem } from '../../cli/outcome-problem.ts'
import type { Output } from '../../cli/output.ts'
import { EndsWith, type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'
import { fateText } from '../../worker/program/result.ts'
import { NO_OUTPUT_FILE, type ProgramRun } from '../../worker/program/run.ts'
import { endedByHolder } from '../../worker/self-reported.ts'
import type { Job, NotCommitted, WorkOutcome, WorkTarget } from '../../worker/types.ts'
import type { ExecOptions } from './options.ts'

interface ExecResult {
  readonly outcome: WorkOutcome
  /** `undefined` if the command was not started. */
  readonly ran: ProgramRun | undefined
}

/**
 * The problem that `exec` ends with, with its exit code from the table.
 *
 * @throws EndsWith with the command's own exit code if nothing else went wrong
 */
export async function execResult(
  store: StreamStore,
  target: Pick<ExecOptions, 'stream' | 'event' | 'command'>,
  { outcome, ran }: ExecResult,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { stream, event } = target
  switch (outcome.kind) {
    case 'not-claimed':
      return undoneProblem(target, outcome.undone, 'been claimed; such a claim expires by itself', runtime)
    case 'lost': {
      const { code, message } = outcome.lost
      await endIfOwn(store, outcome.job, ran, code)
      const subject = message.startsWith(event) ? stream : `${stream} ${event}`
      const exit = exitOfRefusal(code)
      return problem(code, `${subject}: ${message}`, { exit, stream, event, facts: commandFact(ran) })
    }
    case 'unreported': {
      if (outcome.undone.kind === 'refused') await endIfOwn(store, outcome.job, ran, outcome.undone.refusal.code)
      const what = undoneProblem(target, outcome.undone, `ended (${outcome.ending.op})`, runtime)
      return { ...what, facts: [...(what.facts ?? []), ...commandFact(ran)] }
    }
    case 'reported': {
      await output.detail(`${stream} ${event}: ${outcome.ending.op} reported, version ${outcome.result.version}`)
      const { ending } = outcome
      // Killed for its attempt timeout: the exit code does not tell.
      if (ran?.fate.kind === 'killed' && ending.op === 'fail' && ending.transient)
        await output.say(`${stream} ${event}: ${visibleText(ending.msg ?? '')}`)
      return reportedProblem(target, outcome, ran, runtime)
    }
    default:
      return outcome satisfies never
  }
}

function reportedProblem(
  { stream, event, command }: Pick<ExecOptions, 'stream' | 'event' | 'command'>,
  { ending }: Extract<WorkOutcome, { kind: 'reported' }>,
  ran: ProgramRun | undefined,
  runtime: Runtime,
): Problem {
  if (ran?.badInput !== undefined) {
    return { ...errorProblem(ran.badInput, runtime), applied: 'yes', event }
  }
  if (ran?.fate.kind === 'not-started') return notStarted(command[0], ran.fate.reason)
  if (ran === undefined || ending.op === 'release') return { ...interruptedProblem(runtime.signal), stream, event }
  const more = { applied: 'yes', stream, event } as const
  if (ran.badOutput !== undefined) {
    return problem('bad-output', `${stream} ${event} failed: ${ran.badOutput}`, more)
  }
  const code = codeOf(ran)
  // Stopped by its attempt timeout, and ended with 0 then.
  if (code === 0 && ending.op === 'fail' && ending.transient)
    return problem('timed-out', `${stream} ${event}: ${ending.msg ?? ''}`, { ...more, retryable: false })
  if (code === 0 && ending.op === 'fail')
    return problem('end-impossible', `${stream} ${event} failed: ${ending.msg ?? ''}`, more)
  throw new EndsWith(code)
}

/** Ends with the command's exit code if the command ended its event itself, so that `exec` could not. */
async function endIfOwn(store: StreamStore, job: Job, ran: ProgramRun | undefined, code: string): Promise<void> {
  if (ran !== undefined && (await endedByHolder(store, job, code))) throw new EndsWith(codeOf(ran))
}

/** @param word the name of the command, as given */
export function notStarted(word: string, reason: string): Problem {
  if (reason === NO_OUTPUT_FILE) {
    return problem('file-failed', `cannot create a file for LEASECTL_OUTPUT in ${tmpdir()}`, { hint: 'Set TMPDIR.' })
  }
  if (reason === 'ENOENT') {
    return problem('command-not-found', `no command ${word}, or the interpreter of its script is missing`)
  }
  return problem('command-not-executable', `${word} cannot be run (${reason})`)
}

/** The exit code of a command, as a shell reports it. */
function codeOf({ fate }: ProgramRun): number {
  if (fate.kind === 'exited') return fate.code
  return fate.kind === 'killed' ? 128 + constants.signals[fate.signal] : 1
}

function commandFact(ran: ProgramRun | undefined): NonNullable<Problem['facts']> {
  return ran === undefined ? [] : [['command', fateText(ran.fate)]]
}

/** @param what what may or may not have happened if the store did not answer */
function undoneProblem({ stream, event }: WorkTarget, undone: NotCommitted, what: string, runtime: Runtime): Problem {
  if (undone.kind === 'unknown') {
    const message = `the store did not answer: ${stream} ${event} may or may not have ${what}`
    return problem('unknown', message, { applied: 'unknown', stream, event, cause: undone.cause })
  }
  if (undone.kind === 'missing' && undone.isReplaced) return { ...replacedProblem(stream), event }
  // Each change of `exec` has its own command id, which the user cannot repeat.
  const { commandId: _, ...rest } = outcomeProblem(stream, undone, '', runtime)
  return { event, ...rest }
}

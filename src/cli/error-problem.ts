import { BadDocument, LeasectlError, StreamFault } from '../stream/errors.ts'
import { commandLine, type Started } from './command-line.ts'
import { CommandFailed, type Problem, problem, UNREADABLE_HINT } from './problem.ts'
import type { Runtime } from './runtime.ts'

/**
 * The problem that a thrown error means to the user. An unforeseen error is a bug: code `unexpected`, exit 1.
 *
 * @param opened the store of the error
 */
export function errorProblem(error: unknown, runtime: Runtime, opened: Started['opened'] = runtime.opened): Problem {
  if (error instanceof CommandFailed) return error.problem
  if (runtime.signal.aborted && isAbort(error, runtime.signal)) return interruptedProblem(runtime.signal)
  if (error instanceof LeasectlError) {
    return problem(error.code, error.message, {
      cause: error,
      ...hintOf(error, { startedAs: runtime.startedAs, opened }),
      ...(error instanceof StreamFault && error.stream !== undefined ? { stream: error.stream } : {}),
    })
  }
  return problem('unexpected', messageOf(error), {
    applied: runtime.kind === 'writes' ? 'unknown' : 'no',
    cause: error,
    hint: 'This is a bug in leasectl. --debug prints the stack.',
  })
}

function hintOf(error: LeasectlError, started: Started): { hint?: string } {
  const { code, hint } = error
  // the store does not know which commands have the flag
  if (code === 'container-missing') return { hint: creationHint(started) }
  if (hint === undefined && error instanceof BadDocument && error.stream !== undefined) return { hint: UNREADABLE_HINT }
  return hint === undefined ? {} : { hint }
}

/** How to create the container, or the file, of the store. */
function creationHint(started: Started): string {
  const isFile = started.opened?.address.startsWith('sqlite:')
  return `${isFile ? 'Is it the right path? ' : ''}${commandLine(started, creationWords(started))} creates it`
}

/** The arguments of the command that creates the container, or the file, of the store. */
export function creationWords({ opened }: Started): readonly string[] {
  const words = ['init', 'STREAM']
  return opened?.address.startsWith('sqlite:') ? words : [...words, '--create-container']
}

/** The problem of a command stopped by SIGINT or SIGTERM, the reason of the abort. */
export function interruptedProblem(signal: AbortSignal): Problem {
  return signal.reason === 'SIGTERM' ? problem('terminated', 'terminated') : problem('interrupted', 'interrupted')
}

function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError')
}

/** The message of an unforeseen error. One of an SDK can hold the address of a request with its signature. */
function messageOf(error: unknown): string {
  return withoutSecrets(error instanceof Error ? `${error.name}: ${error.message}` : String(error))
}

/** `sig=…` of a SAS and keys of a connection string, also percent-encoded. */
const NAMED = /(\b|%[0-9a-f]{2})(sig|AccountKey|SharedAccessSignature|client_secret|password)(=|%3D)[^&;\s"'\\]+/gi
/** The value of an `Authorization` header. */
const AUTHORIZATION = /\b(Bearer|SharedKey(?:Lite)?)\s+[^\s"'\\]+/gi
/** `https://user:password@host` */
const USER_INFO = /:\/\/[^/?#\s"'\\@]+@/g

/** The text without credentials: messages of an SDK hold addresses. */
export function withoutSecrets(text: string): string {
  return text.replace(NAMED, '$1$2$3…').replace(AUTHORIZATION, '$1 …').replace(USER_INFO, '://…@')
}

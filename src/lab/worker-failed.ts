import { LeasectlError } from '../stream/errors.ts'

/** What a worker process of the lab told of why it failed: its code is that of the worker's own error. */
export class WorkerFailed extends LeasectlError {
  readonly code: string

  private constructor(code: string, message: string, hint: string | undefined) {
    super(message, hint === undefined ? {} : { hint })
    this.code = code
  }

  /**
   * The error of a worker that ended.
   *
   * @param ended its exit code, `null` for a signal, and what it wrote to stderr: an error as JSON in the last line
   */
  static of(name: string, { code, stderr }: { readonly code: number | null; readonly stderr: string }): Error {
    const told = toldIn(stderr.trimEnd().split('\n').at(-1) ?? '')
    if (told === undefined || told.code === 'unexpected')
      return new Error(`${name} ended with ${code ?? 'a signal'}: ${stderr.trim()}`)
    return new WorkerFailed(told.code, `${name}: ${told.message}`, told.hint ?? undefined)
  }
}

interface Told {
  readonly code: string
  readonly message: string
  readonly hint?: string | null
}

function toldIn(line: string): Told | undefined {
  try {
    const { error } = JSON.parse(line) as { readonly error?: Partial<Told> }
    const isWhole = typeof error?.code === 'string' && typeof error.message === 'string'
    return isWhole ? (error as Told) : undefined
  } catch {
    return undefined
  }
}

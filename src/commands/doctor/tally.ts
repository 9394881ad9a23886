import { exitOf, exitOfRefusal } from '../../cli/exit-codes.ts'
import { missingProblem } from '../../cli/outcome-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { FindingCounts } from '../../formats/doctor.ts'
import { counted, countText } from '../../formats/terminal/count-text.ts'
import type { Finding } from '../../ops/doctor/stream.ts'
import type { Selection } from '../../ops/selection.ts'

/** Counts findings, and remembers of the errors what the exit code needs. */
export class DoctorTally {
  readonly #counts = { error: 0, warning: 0, info: 0 }
  /** Errors of the store, the worst first. */
  readonly #storeErrors: Finding[] = []
  #examined = 0
  #withErrors = 0
  #missing: string | undefined
  #unreadable: Finding | undefined

  get counts(): FindingCounts {
    return this.#counts
  }

  get examined(): number {
    return this.#examined
  }

  addStore(findings: readonly Finding[]): void {
    this.#count(findings)
    this.#storeErrors.push(...findings.filter(({ severity }) => severity === 'error'))
  }

  addStream(findings: readonly Finding[]): void {
    this.#examined++
    this.#count(findings)
    if (findings.some(({ severity }) => severity === 'error')) this.#withErrors++
    this.#unreadable ??= findings.find(({ code }) => code === 'unreadable' || exitOf(code) === 12)
  }

  addMissing(name: string, findings: readonly Finding[]): void {
    this.addStream(findings)
    this.#missing ??= name
  }

  /** What the command ends with: an error of the store outweighs those of streams. */
  problem(selection: Selection | undefined): Problem | undefined {
    return this.#storeProblem() ?? this.#streamProblem(selection)
  }

  #storeProblem(): Problem | undefined {
    const [first, ...others] = this.#storeErrors
    if (first === undefined) return undefined
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    // What is to be done about it stands with the finding.
    return problem(first.code, `the store: ${first.message}${more}`, { exit: exitOfRefusal(first.code) })
  }

  #streamProblem(selection: Selection | undefined): Problem | undefined {
    if (this.#missing !== undefined && selection?.kind === 'names') return missingProblem(this.#missing)
    if (this.#withErrors === 0) return undefined
    const one = this.#examined === 1
    const message = one
      ? 'errors in the stream'
      : `errors in ${countText(this.#withErrors)} of ${counted(this.#examined, 'stream')}`
    if (one && this.#unreadable?.code === 'unreadable') return problem('bad-document', 'the document cannot be read')
    if (one && this.#unreadable !== undefined) return problem(this.#unreadable.code, 'the stream cannot be read')
    return problem('unsound', message, { exit: 7, retryable: false })
  }

  #count(findings: readonly Finding[]): void {
    for (const { severity, count = 1 } of findings) if (severity !== 'ok') this.#counts[severity] += count
  }
}

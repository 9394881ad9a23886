import { errorProblem } from '../../cli/error-problem.ts'
import { heldProblem } from '../../cli/outcome-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import type { CopyState } from '../../ops/copy.ts'
import type { CopyWithDataOutcome } from '../../ops/copy-data.ts'
import type { DataFault } from '../../ops/event-data.ts'
import type { OutcomeWord } from '../batch/options.ts'
import type { TransferWord } from '../batch/result.ts'

/** The outcome for one stream. */
export interface TransferOutcome {
  readonly stream: string
  readonly word: TransferWord
  /** What was done, or why it was not done, as a text for people. */
  readonly note: string
  readonly version?: number
  /** The path of the source or target, if that is a file. */
  readonly place?: string
  /** Absent if the stream was transferred. */
  readonly problem?: Problem
  /** The other streams would fail in the same way: no further transfer starts. */
  readonly stop?: boolean
}

export const SAME = 'identical'

/** Describes the outcome of a copy. */
export function copyOutcome(stream: string, outcome: CopyWithDataOutcome, runtime: Runtime): TransferOutcome {
  switch (outcome.kind) {
    case 'created':
    case 'replaced':
      return { stream, word: 'done', note: outcome.kind, version: outcome.version }
    case 'already':
      return { stream, word: 'already', note: SAME, version: outcome.version }
    case 'skipped':
      return skippedOutcome(stream, outcome.restored)
    case 'held':
      return problemOutcome(
        'busy',
        stream,
        heldProblem(stream, outcome.lease, outcome.waitedMs, outcome.lastBy, runtime),
      )
    case 'unknown':
      return problemOutcome('unknown', stream, unknownOf(stream, outcome.cause))
    case 'changed':
      return problemOutcome('changed', stream, changedOf(stream))
    case 'exists':
      return problemOutcome('refused', stream, existsProblem(stream, outcome.restored))
    case 'older':
    case 'unreadable':
      return problemOutcome('refused', stream, unreplaceable(stream, outcome))
    default:
      return outcome satisfies never
  }
}

/** `--skip-existing` leaves a stream whose content differs. */
export function skippedOutcome(stream: string, restored = 0): TransferOutcome {
  return { stream, word: 'skipped', note: `exists with different content: left as it is${restoredText(restored)}` }
}

/** The data that the stored stream had lost. */
function restoredText(restored: number): string {
  return restored === 0 ? '' : `; ${counted(restored, 'piece')} of its data restored`
}

/** The stream was removed between the listing and the read. */
export function goneOutcome(stream: string): TransferOutcome {
  return { stream, word: 'gone', note: 'removed in the meantime' }
}

/** An outcome other than success. */
export function problemOutcome(word: OutcomeWord, stream: string, why: Problem): TransferOutcome {
  return { stream, word, note: why.message, problem: { ...why, stream } }
}

/** Data of the stream is missing or damaged in the source. */
export function dataOutcome(stream: string, fault: DataFault, runtime: Runtime): TransferOutcome {
  const hint = '--without-data copies the documents without the data that is kept beside them.'
  return problemOutcome('failed', stream, { ...errorProblem(fault, runtime), hint })
}

export function existsProblem(stream: string, restored = 0): Problem {
  return problem('exists', `a stream of this name exists with different content${restoredText(restored)}`, {
    exit: 5,
    stream,
    hint: '--skip-existing leaves such streams as they are, --replace replaces them.',
  })
}

/** Why the existing stream must not be replaced. */
export function unreplaceable(
  stream: string,
  current: Extract<CopyState, { readonly kind: 'older' | 'unreadable' }>,
): Problem {
  if (current.kind === 'older') {
    const { version, found } = current
    return problem('changed', `the stream is at version ${found}, and a version never goes back to ${version}`, {
      exit: 5,
      stream,
      hint: 'To restore an older state, first remove the stream with rm.',
    })
  }
  return problem('exists', `the existing stream cannot be read, so it is not replaced: ${current.message}`, {
    exit: 5,
    stream,
    hint: 'show -o xml prints it as stored; rm --force removes it, then import.',
  })
}

function changedOf(stream: string): Problem {
  return problem('changed', 'the stream changed after it was checked', {
    exit: 5,
    stream,
    hint: 'Check it and repeat.',
  })
}

function unknownOf(stream: string, cause: unknown): Problem {
  return problem('unknown', 'the store did not answer: the stream may or may not have been written', {
    applied: 'unknown',
    stream,
    cause,
    hint: 'Repeat the command: streams already copied are recognised.',
  })
}

import { heldProblem } from '../../cli/outcome-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { CopyOutcome, CopyState } from '../../ops/copy.ts'
import type { OutcomeWord } from '../batch/options.ts'
import type { TransferWord } from '../batch/result.ts'

/** What became of one stream. */
export interface Transferred {
  readonly stream: string
  readonly word: TransferWord
  /** For people: what was done, or why not. */
  readonly note: string
  readonly version?: number
  /** Where it came from or went to, if that is not its name in a store. */
  readonly place?: string
  /** Absent for what is done. */
  readonly problem?: Problem
  /** The others would fail alike: nothing further is begun. */
  readonly stop?: boolean
}

export const SAME = 'the same is there'

/** How the outcome of a copy is told. */
export function copiedOutcome(stream: string, outcome: CopyOutcome, runtime: Runtime): Transferred {
  switch (outcome.kind) {
    case 'created':
    case 'replaced':
      return { stream, word: 'done', note: outcome.kind, version: outcome.version }
    case 'already':
      return { stream, word: 'already', note: SAME, version: outcome.version }
    case 'skipped':
      return skipped(stream)
    case 'held':
      return undone('busy', stream, heldProblem(stream, outcome.lease, outcome.waitedMs, outcome.lastBy, runtime))
    case 'unknown':
      return undone('unknown', stream, unknownOf(stream, outcome.cause))
    case 'changed':
      return undone('changed', stream, changedOf(stream))
    case 'exists':
      return undone('refused', stream, existsProblem(stream))
    case 'older':
    case 'unreadable':
      return undone('refused', stream, unreplaceable(stream, outcome))
    default:
      return outcome satisfies never
  }
}

/** It was asked for that such streams are left as they are. */
export function skipped(stream: string): Transferred {
  return { stream, word: 'skipped', note: 'another document has the name: left as it is' }
}

/** It vanished between the listing and its turn. */
export function gone(stream: string): Transferred {
  return { stream, word: 'gone', note: 'vanished meanwhile' }
}

/** An outcome that is none of the good ones. */
export function undone(word: OutcomeWord, stream: string, why: Problem): Transferred {
  return { stream, word, note: why.message, problem: { ...why, stream } }
}

/** Another document has the name. */
export function existsProblem(stream: string): Problem {
  return problem('exists', 'another document has the name', {
    exit: 5,
    stream,
    hint: '--skip-existing leaves such streams as they are, --replace writes over them.',
  })
}

/** Why what has the name may not be replaced. */
export function unreplaceable(
  stream: string,
  standing: Extract<CopyState, { readonly kind: 'older' | 'unreadable' }>,
): Problem {
  if (standing.kind === 'older') {
    const { version, found } = standing
    return problem('changed', `it stands at version ${found}, and versions never go back to ${version}`, {
      exit: 5,
      stream,
      hint: 'To put an older state in its place, remove the stream first: rm.',
    })
  }
  return problem('exists', `what has the name cannot be read, and nothing is written over it: ${standing.message}`, {
    exit: 5,
    stream,
    hint: 'show -o xml prints it as it is stored; rm removes it.',
  })
}

function changedOf(stream: string): Problem {
  return problem('changed', 'it is no longer what was looked at', { exit: 5, stream, hint: 'Look again and repeat.' })
}

function unknownOf(stream: string, cause: unknown): Problem {
  return problem('unknown', 'the store did not answer: it may or may not have been written', {
    applied: 'unknown',
    stream,
    cause,
    hint: 'Repeat the command: what is there is recognised.',
  })
}

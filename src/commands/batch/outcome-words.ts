import { choices } from '../../cli/values.ts'

/** What became of one stream of a batch, in the words that scripts compare. */
export const OUTCOME_WORDS = ['done', 'already', 'refused', 'busy', 'changed', 'failed', 'unknown'] as const

export type OutcomeWord = (typeof OUTCOME_WORDS)[number]

/** Words joined by commas. */
export const outcomeWords = choices('--only', OUTCOME_WORDS)

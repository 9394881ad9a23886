import type { OutcomeWord } from './outcome-words.ts'

/** How the outcome of one stream looks in a table, wherever streams are changed or moved. */
export const OUTCOME_LOOKS = {
  done: { glyph: '✓', style: 'good' },
  already: { glyph: '✓', style: 'dim' },
  refused: { glyph: '✗', style: 'bad' },
  busy: { glyph: '◷', style: 'warn' },
  changed: { glyph: '!', style: 'warn' },
  failed: { glyph: '✗', style: 'bad' },
  unknown: { glyph: '?', style: 'warn' },
} as const satisfies { readonly [Word in OutcomeWord]: object }

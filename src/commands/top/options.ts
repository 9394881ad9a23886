import type { GlobalOptions } from '../../cli/options.ts'

export const THEMES = ['auto', 'dark', 'light', 'mono'] as const

export type ThemeChoice = (typeof THEMES)[number]

/** Arguments and flags of `top`. */
export interface TopOptions extends GlobalOptions {
  /** The stream that it opens with; it need not exist yet. */
  readonly stream?: string
  readonly match?: string
  /** From one look to the next, ms. */
  readonly interval?: number
  /** Changes are allowed from the start on. */
  readonly write?: boolean
  /** Nothing can be changed, whatever is typed. */
  readonly readOnly?: boolean
  readonly theme?: ThemeChoice
  readonly ascii?: boolean
  /** Lines one after the other in place of a screen. */
  readonly accessible?: boolean
}

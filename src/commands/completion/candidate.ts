/** A word that may stand at the cursor. */
export interface Candidate {
  readonly text: string
  /** What it is, in a few words. */
  readonly what?: string
}

export interface Candidates {
  /** `open`: the word goes on, no space follows. `files`: the shell knows better. */
  readonly kind: 'words' | 'open' | 'files'
  readonly found: readonly Candidate[]
}

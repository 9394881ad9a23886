/** Brackets and braces are wildcards elsewhere, here they stand for themselves: what to say where such a pattern found nothing. */
export function literalSigns(match: string | undefined): string | undefined {
  const sign = /[[{]/.exec(match ?? '')?.[0]
  if (sign === undefined) return undefined
  return `in --match ${sign} stands for itself: * and ** are the only wildcards, ? is one character`
}

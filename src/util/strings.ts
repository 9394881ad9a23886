/**
 * The same text in memory of its own, for what is kept long: a name cut out of a listing's answer otherwise keeps that
 * whole answer, megabytes of it.
 */
export function ownText(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}

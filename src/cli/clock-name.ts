/** `20261120-184302`: sorts by time, and no two of one person meet. */
export function clockName(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
}

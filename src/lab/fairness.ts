/**
 * Jain's index of how evenly something was shared out: 1 where all got the same, 1/n where one of n got it all.
 * Nothing shared out at all is even.
 */
export function jainIndex(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0)
  const squares = shares.reduce((total, share) => total + share * share, 0)
  return squares === 0 ? 1 : (sum * sum) / (shares.length * squares)
}

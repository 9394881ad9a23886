/** `usual`: as leasectl waits. `reference`: as the library of 2013 did, which polled. */
export const PACES = ['usual', 'reference'] as const
export type PaceName = (typeof PACES)[number]

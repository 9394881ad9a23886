/** `usual`: the wait of leasectl. `reference`: the polling of the library of 2013. */
export const PACES = ['usual', 'reference'] as const
export type PaceName = (typeof PACES)[number]

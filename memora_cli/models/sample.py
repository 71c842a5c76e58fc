"""A built-in sample of questions and notes, on which an exported model is compared with its original."""

from __future__ import annotations

QUERIES = (
    "Where does Alice work now?",
    "what did the dentist say about my tooth",
    "When is the rent due?",
    "sourdough starter feeding schedule",
    "how do I undo the last git commit but keep the changes",
    "Which flight are we taking to Lisbon in June 2022?",
    "Why did the deployment fail on Friday?",
    "Who recommended the book about octopuses?",
    "insulin dose after exercise",
    "What is the wifi password at the cabin?",
    "ideas for mum's 60th birthday",
    "boundary layer transition on a heated flat plate",
)

PASSAGES = (
    "Alice left Google in March and joined a small robotics company in Zurich as lead engineer.",
    "[Date: June 05, 2022] Alice works as a software engineer at Google, on the Maps team.",
    "Alice's sister Bea is a nurse; she lives near the old hospital.",
    "[Date: January 14, 2024] Dentist: the crack in the molar is small, no crown yet, look again in six months.",
    "Bought an electric toothbrush and a mirror for the bathroom.",
    "Rent goes out on the third of each month, 1,240 euros, standing order from the joint account.",
    "The landlord will have the boiler serviced before winter.",
    "Feed the starter 1:2:2 with rye in the morning and again twelve hours later when the kitchen is cold.",
    "Bread: 500 g flour, 350 g water, 100 g starter, 10 g salt; fold four times, bake at 240 degrees.",
    "`git reset --soft HEAD~1` takes back the last commit and leaves its changes in the index.",
    "`git stash` puts uncommitted work aside; `git stash pop` brings it back.",
    "[Date: April 02, 2022] Booked TP 933 to Lisbon on the 18th of June, back on the 26th, two bags, seats 14A, 14B.",
    "[Date: July 01, 2022] Lisbon was wonderful: pasteis de nata every morning, fado in Alfama, sunburn on day two.",
    "[Date: October 13, 2023] Friday's release was rolled back: the migration locked the orders table for minutes.",
    "New rule: no deployments after two o'clock on the last working day of the week.",
    "Priya says I must read Other Minds, the one about octopuses and where consciousness comes from.",
    "Finished a long novel about a lighthouse keeper; too slow for me.",
    "After the long run my sugar fell to 3.4; next time halve the evening bolus and eat before bed.",
    "Gym on Tuesdays and Thursdays, swimming on Saturdays if the pool is open.",
    "Cabin: key under the blue pot, wifi is otter-lake-77, turn the water off when leaving.",
    "The router in the office needs a restart every few weeks; ask Tom.",
    "Mum turns sixty in May: a weekend at the sea with everyone, or the pottery course she keeps talking about.",
    "Dad prefers no presents; he liked the photo book.",
    "The experiments confirm that heating the plate moves transition upstream, as the theory of Schlichting predicts "
    "for gases, while for water the laminar layer is stabilised.",
    "An approximate solution of the incompressible laminar boundary layer equations for a flat plate in shear flow.",
    "I believe small teams write better software than large ones, as long as somebody says no.",
    "東京の春は桜がきれいで、上野公園を歩いた。",
    "Der Zug nach Bern fährt um 8:32 von Gleis 7; das Halbtax nicht vergessen.",
    "TODO",
    "Meeting notes, budget: marketing asks for 40k, we agreed on 25k until September, then look at the numbers again; "
    "Sam will send the sheet, Ines talks to the agency, nobody books the fair before both have reported back.",
)

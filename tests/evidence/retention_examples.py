"""Summaries in the styles of chat models, with the status a careful reader gives each fact; patients are invented."""

R, P, C, A = "retained", "partial", "contradicted", "absent"

EXAMPLES: list[tuple[str, dict[str, str]]] = [
    (
        "The patient is a 24-year-old university student presenting with symptoms consistent with Generalized "
        "Anxiety Disorder (GAD). She reports constant worry, poor sleep and muscle tension. She is currently "
        "prescribed sertraline 50 mg once daily, which she tolerates well, and she has a documented allergy to "
        "penicillin. She lives with her parents while completing her degree and identifies academic pressure "
        "as her main stressor.",
        {
            "generalised anxiety disorder": R,
            "sertraline 50mg": R,
            "penicillin allergy": R,
            "living with parents while at university": R,
            "academic stress": R,
            "24-year-old": R,
            "asthma": A,
            "lithium 400 mg at night": A,
        },
    ),
    (
        "The patient does not meet criteria for generalised anxiety disorder. She is taking sertraline 100 mg "
        "once daily. She has no known drug allergies. Her mother has panic disorder.",
        {
            "generalised anxiety disorder": C,
            "sertraline 50mg": C,
            "penicillin allergy": C,
            "panic disorder": A,
            "no known drug allergies": R,
        },
    ),
    (
        "**Summary of the patient's current state**\n\n- **Diagnosis:** Major depressive disorder, recurrent, "
        "with comorbid ADHD\n- **Medication:** Fluoxetine 20 mg every morning; no side effects reported\n- "
        "**Allergies:** Penicillin (rash)\n- **Risk:** Denies suicidal ideation, intent or plan\n- **Social:** "
        "Lives alone, works part-time in a bookshop, limited social support\n- **Next steps:** Continue CBT, "
        "review in two weeks",
        {
            "major depressive disorder": R,
            "attention deficit hyperactivity disorder": R,
            "fluoxetine 20 mg daily": R,
            "penicillin allergy": R,
            "no suicidal ideation": R,
            "lives alone": R,
            "works full time": C,
            "PTSD": A,
        },
    ),
    (
        "- Diagnosis: Major depressive disorder was ruled out\n- Medication: fluoxetine 20 mg was stopped last "
        "month\n- Allergies: None known\n- Risk: reports active suicidal ideation\n- Social: lives with her "
        "sister",
        {
            "major depressive disorder": C,
            "fluoxetine 20 mg daily": C,
            "penicillin allergy": C,
            "no suicidal ideation": C,
            "lives alone": C,
        },
    ),
    (
        "Overall, this is a 31-year-old man with post-traumatic stress disorder following a car accident two "
        "years ago. He has nightmares and avoids driving. He is not taking any psychotropic medication at "
        "present and would prefer talking therapy. He has a history of asthma, for which he uses a salbutamol "
        "inhaler as needed. His wife is supportive.",
        {
            "PTSD": R,
            "no psychotropic medication": R,
            "asthma": R,
            "salbutamol as needed": R,
            "car accident": R,
            "nightmares": R,
            "depression": A,
            "latex allergy": A,
        },
    ),
    (
        "He has PTSD after a road traffic collision. Last week his GP started him on mirtazapine 15 mg at "
        "night for sleep. He has never had asthma.",
        {
            "PTSD": R,
            "no psychotropic medication": C,
            "asthma": C,
            "mirtazapine 15 mg at night": R,
        },
    ),
    (
        "Here's a concise summary:\n\n1. **Primary concern:** Social anxiety, particularly around "
        "presentations and being judged by peers.\n2. **Background:** First-year college student, recently "
        "moved away from home.\n3. **Treatment:** None at present; she has never taken psychiatric "
        "medication.\n4. **Strengths:** Motivated, insightful, good relationship with her brother.",
        {
            "social anxiety disorder": R,
            "no psychotropic medication": R,
            "university student": R,
            "fear of being judged": R,
            "panic disorder": A,
        },
    ),
    (
        "The patient continues to struggle with obsessive-compulsive disorder, spending up to three hours a "
        "day on checking rituals. Escitalopram was increased from 10 mg to 20 mg daily two weeks ago. There is "
        "no history of self-harm. He works as a software developer and feels overwhelmed by his workload.",
        {
            "OCD": R,
            "escitalopram 10 mg": C,
            "escitalopram 20 mg daily": R,
            "no history of self-harm": R,
            "work stress": R,
            "self-harm": C,
        },
    ),
    (
        "He continues escitalopram 10 mg daily. If there is no improvement in a month, the dose could be "
        "increased to 20 mg. His father has obsessive-compulsive disorder. He asked whether lithium might help.",
        {
            "escitalopram 10 mg": R,
            "escitalopram 20 mg daily": C,
            "OCD": A,
            "lithium": A,
        },
    ),
    (
        "Patient reports persistent low mood, loss of interest, early-morning waking and reduced appetite for "
        "the past six weeks following the end of a long-term relationship. She has had passing thoughts that "
        "life is not worth living but no plan or intent. She drinks a bottle of wine most evenings. She is "
        "allergic to penicillin and takes no regular medication.",
        {
            "low mood": R,
            "anhedonia": R,
            "recent breakup": R,
            "penicillin allergy": R,
            "alcohol use": R,
            "bipolar disorder": A,
        },
    ),
    (
        "## Clinical Summary\n\n### Diagnoses\nBipolar I disorder; hypothyroidism\n\n### Medications\n- "
        "Lithium carbonate 800 mg at bedtime\n- Levothyroxine 75 micrograms once daily\n\n### Allergies\n- "
        "Sulfonamides (hives)\n\n### Psychosocial\nDivorced, two teenage children, works as a nurse on night "
        "shifts.",
        {
            "bipolar disorder": R,
            "hypothyroidism": R,
            "lithium 800 mg at night": R,
            "levothyroxine 75 mcg daily": R,
            "sulfa allergy": R,
            "works night shifts": R,
            "penicillin allergy": A,
            "valproate 500 mg twice daily": A,
        },
    ),
    (
        "## Clinical Summary\n\n### Diagnoses\nHypothyroidism; bipolar disorder in her sister\n\n### "
        "Medications\n- Lithium carbonate 400 mg at bedtime\n- Levothyroxine 75 mg once daily\n\n### "
        "Allergies\n- None",
        {
            "bipolar disorder": A,
            "lithium 800 mg at night": C,
            "levothyroxine 75 mcg daily": C,
            "sulfa allergy": C,
            "hypothyroidism": R,
        },
    ),
    (
        "<think>She has panic disorder and a penicillin allergy, and takes sertraline 50 mg.</think>The "
        "patient described several stressful events at work and feels supported by her friends.",
        {
            "panic disorder": A,
            "penicillin allergy": A,
            "sertraline 50mg": A,
            "work stress": R,
        },
    ),
    (
        "You told me that you have been feeling anxious and that crowded places make your heart race. You "
        "mentioned your panic disorder and that you take 50 milligrams of sertraline each morning. You can't "
        "take penicillin because it gave you hives. We also talked about how hard your first year at "
        "university has been.",
        {
            "panic disorder": R,
            "sertraline 50mg": R,
            "penicillin allergy": R,
        },
    ),
    (
        "The patient has not yet told her partner about her panic disorder. There has been no change to her "
        "sertraline 50 mg. There is no specific plan. Her penicillin allergy is on file.",
        {
            "panic disorder": R,
            "sertraline 50mg": R,
            "penicillin allergy": R,
        },
    ),
    (
        "No evidence of psychosis or mania. Her borderline personality disorder remains the working diagnosis; "
        "dialectical behaviour therapy has begun. Self-harm by cutting last occurred in March. Quetiapine was "
        "discontinued because of weight gain.",
        {
            "borderline personality disorder": R,
            "psychosis": C,
            "quetiapine stopped because of weight gain": R,
            "quetiapine 50 mg at night": C,
            "history of self-harm": R,
        },
    ),
    (
        "Patient: 45 y/o M. Dx: AUD, MDD. Rx: naltrexone 50 mg PO daily, bupropion XL 150 mg qAM. NKDA. Lives "
        "in a hostel since losing his flat. Last drink 12 days ago.",
        {
            "alcohol use disorder": R,
            "depression": R,
            "naltrexone 50 mg daily": R,
            "bupropion 150 mg in the morning": R,
            "no known drug allergies": R,
            "homeless": R,
            "bupropion 300 mg daily": C,
        },
    ),
    (
        "Mr Ellery is a 67-year-old man with COPD, hypertension and type 2 diabetes. He takes metformin 500 mg "
        "twice a day, amlodipine 5 mg daily and uses a tiotropium inhaler. He stopped smoking in 2015. His "
        "most recent HbA1c was 58 mmol/mol. He lives with his wife in a bungalow and is independent in all "
        "activities of daily living.",
        {
            "COPD": R,
            "high blood pressure": R,
            "type 2 diabetes": R,
            "metformin 500 mg twice daily": R,
            "amlodipine 5 mg once daily": R,
            "ex-smoker": R,
            "HbA1c 58 mmol/mol": R,
            "lives with his wife": R,
            "current smoker": C,
            "type 1 diabetes": C,
            "warfarin 3 mg daily": A,
            "not on anticoagulants": A,
        },
    ),
    (
        "Mr Ellery has COPD and diet-controlled type 2 diabetes; his wife has hypertension. Metformin was "
        "never started. Amlodipine has been reduced from 10 mg to 5 mg. He still smokes 15 cigarettes a day. "
        "HbA1c is awaited. He was widowed in 2021 and lives alone.",
        {
            "COPD": R,
            "high blood pressure": A,
            "metformin 500 mg twice daily": C,
            "amlodipine 10 mg once daily": C,
            "ex-smoker": C,
            "HbA1c 58 mmol/mol": A,
            "lives with his wife": C,
        },
    ),
    (
        "| Problem | Status |\n|---|---|\n| Asthma | moderate, stable on Clenil 100 micrograms two puffs bd |\n"
        "| Eczema | resolved |\n| Allergy | peanut – anaphylaxis 2019, carries two EpiPens |\n| Smoking | "
        "never |\n",
        {
            "asthma": R,
            "moderate asthma": R,
            "severe asthma": C,
            "peanut allergy with anaphylaxis": R,
            "never smoked": R,
        },
    ),
    (
        "She is 32 weeks pregnant with her second child. Her first pregnancy was complicated by gestational "
        "diabetes. She takes folic acid 5 mg daily because of her epilepsy, which is controlled with "
        "lamotrigine 100 mg twice a day. She is rhesus negative. She does not smoke or drink.",
        {
            "32 weeks pregnant": R,
            "folic acid 5 mg daily": R,
            "epilepsy": R,
            "lamotrigine 100 mg twice daily": R,
            "rhesus negative": R,
            "lamotrigine 200 mg twice daily": C,
            "non-smoker": R,
        },
    ),
    (
        "The patient, an 81-year-old retired teacher, was admitted with a left hip fracture after a fall at "
        "home. Background of atrial fibrillation (on edoxaban 60 mg once daily), osteoporosis and mild "
        "cognitive impairment. She has a DNACPR decision in place. No known allergies. Her daughter, who lives "
        "nearby, helps with shopping.",
        {
            "left hip fracture": R,
            "right hip fracture": C,
            "atrial fibrillation": R,
            "edoxaban 60 mg daily": R,
            "osteoporosis": R,
            "DNACPR in place": R,
            "no known drug allergies": R,
            "lives with her daughter": A,
        },
    ),
    (
        "Current medications include an SSRI and a beta-blocker. She has an allergy to an antibiotic. Her mood "
        "disorder is being managed by the community team.",
        {
            "sertraline 50mg": P,
            "propranolol 40 mg twice daily": P,
            "depression": P,
            "penicillin allergy": P,
        },
    ),
    (
        "The family history includes schizophrenia in a maternal uncle and type 1 diabetes in her brother. The "
        "patient herself has Crohn's disease and takes azathioprine 150 mg daily. Infliximab is being "
        "considered. She is intolerant of codeine, which makes her vomit.",
        {
            "schizophrenia": A,
            "type 1 diabetes": A,
            "Crohn's disease": R,
            "azathioprine 150 mg daily": R,
            "infliximab": A,
            "codeine intolerance (vomiting)": R,
            "family history of schizophrenia": R,
        },
    ),
    (
        "He previously took citalopram 20 mg but came off it in May. He now takes venlafaxine 75 mg once "
        "daily. His insomnia has resolved and he is sleeping well. He denies alcohol misuse.",
        {
            "citalopram 20 mg daily": C,
            "venlafaxine 75 mg daily": R,
            "citalopram stopped": R,
            "venlafaxine 150 mg daily": C,
        },
    ),
    (
        "In summary, Leila has been diagnosed with anorexia nervosa (restricting type). Her BMI is 16.2 and "
        "her weight 43 kg. She is seen weekly by the eating disorders team. She takes no medication. She "
        "attends sixth form and is preparing for exams. Her parents supervise her meals.",
        {
            "anorexia nervosa": R,
            "BMI 16.2": R,
            "weight 43 kg": R,
            "no current medication": R,
            "BMI 18.5": C,
        },
    ),
    (
        "I'm sorry, but I can't provide a summary of personal medical information about sertraline use or "
        "penicillin allergies.",
        {
            "sertraline 50mg": A,
            "penicillin allergy": A,
            "panic disorder": A,
        },
    ),
    (
        "Patient has schizophrenia, maintained on clozapine 300 mg at night with weekly blood counts. Smokes "
        "20 a day. Lives in supported accommodation. His clozapine level was 0.42 mg/L. No alcohol or illicit "
        "drugs.",
        {
            "schizophrenia": R,
            "clozapine 300 mg at night": R,
            "clozapine 300 mg in the morning": C,
            "current smoker": R,
            "bipolar disorder": A,
        },
    ),
    (
        "The patient's depression has improved considerably. She was previously treated with paroxetine, which "
        "she could not tolerate because of sexual side effects. She has been switched from paroxetine to "
        "vortioxetine 10 mg daily.",
        {
            "depression": R,
            "paroxetine 20 mg daily": C,
            "vortioxetine 10 mg daily": R,
        },
    ),
    (
        "Key facts: (1) diagnosed with autism spectrum disorder in childhood; (2) anxiety symptoms since "
        "starting secondary school; (3) melatonin 3 mg at bedtime; (4) allergic to amoxicillin – facial "
        "swelling; (5) parents separated, stays with father at weekends.",
        {
            "autism": R,
            "anxiety": R,
            "melatonin 3 mg at night": R,
            "amoxicillin allergy": R,
            "melatonin 2 mg at night": C,
        },
    ),
    (
        "Ms Tran is experiencing burnout. She works sixty hours a week as a junior doctor, has little contact "
        "with friends and feels cut off from her family abroad. There is no current or past use of "
        "antidepressants or other psychotropic drugs. She sleeps five hours a night. She has migraine, treated "
        "with sumatriptan 50 mg as required.",
        {
            "burnout": R,
            "social isolation": R,
            "no psychotropic medication": R,
            "migraine": R,
            "sumatriptan 50 mg as needed": R,
            "sumatriptan 100 mg as needed": C,
        },
    ),
    (
        "The patient reported feeling better this week. Treatment options such as sertraline were discussed. "
        "Allergies were not discussed. It is unclear whether she has ever been diagnosed with panic disorder.",
        {
            "sertraline 50mg": A,
            "penicillin allergy": A,
            "panic disorder": A,
            "no known drug allergies": A,
        },
    ),
    (
        "Mr Osei's father died three months ago and he is grieving. He is the main carer for his mother, who "
        "has Parkinson's disease. He lost his job in January and worries about money. He has been drinking "
        "more than usual.",
        {
            "bereavement": R,
            "caring for his mother": R,
            "unemployed": R,
            "financial difficulties": R,
            "Parkinson's disease": A,
        },
    ),
]

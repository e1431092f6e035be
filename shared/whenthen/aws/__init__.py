"""All boto3: one typed door per AWS service."""
